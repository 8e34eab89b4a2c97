"""Storage of a region on Azure: the fleet bucket (an account with one container), the vault, and the file shares."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.network.azure.endpoints import FILES, Endpoint
from components.tags import Owner
from fleet.azure.ids import BLOB_CONTRIBUTOR, SECRETS_OFFICER, role
from fleet.buckets import RECOVER, bucket_name, shares_account, vault_name
from fleet.model import Fleet

from ..shares import SharesSpec
from .spec import CLOSED, CONTAINER, SHARE_GIB, bucket_id, deleted_days, lifecycle, role_assignment, vault_id

# Azure keeps what was deleted for so long, and nobody can end it before.
VAULT_DAYS = 90


class BucketArgs(TypedDict):
    """`recover`: Azure still keeps the region's vault, which was deleted; it comes back with all that was in it."""

    fleet: Fleet
    region: str
    owner: Owner
    group: pulumi.Input[str]
    recover: bool


class Bucket(pulumi.ComponentResource):
    """`account` holds the container; `vault` keeps the region's secrets, at which `vault_operators` lets us."""

    def __init__(self, name: str, args: BucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:storage:Bucket", name, None, opts)
        fleet, region, owner, group = args["fleet"], args["region"], args["owner"], args["group"]
        assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
        child = pulumi.ResourceOptions(parent=self)
        protected = pulumi.ResourceOptions(parent=self, protect=True)
        self.account = azure.storage.StorageAccount(
            "bucket",
            account_name=bucket_name(fleet, region),
            resource_group_name=group,
            location=region,
            kind="StorageV2",
            sku={"name": "Standard_ZRS"},
            # Pulumi's own upload of blobs knows no other way: pulumi/pulumi-azure-native issue 2015.
            allow_shared_key_access=True,
            default_to_o_auth_authentication=True,
            enable_https_traffic_only=True,
            public_network_access="Enabled",
            encryption={
                "key_source": "Microsoft.Storage",
                "require_infrastructure_encryption": True,
                "services": {"blob": {"enabled": True, "key_type": "Account"}},
            },
            tags=owner.tags("bucket"),
            opts=protected,
            **CLOSED,
        )
        azure.storage.BlobServiceProperties(
            "bucket-service",
            blob_services_name="default",
            account_name=self.account.name,
            resource_group_name=group,
            is_versioning_enabled=True,
            delete_retention_policy={"enabled": True, "days": deleted_days(fleet)},
            container_delete_retention_policy={"enabled": True, "days": deleted_days(fleet)},
            opts=child,
        )
        self.container = azure.storage.BlobContainer(
            "bucket-container",
            container_name=CONTAINER,
            account_name=self.account.name,
            resource_group_name=group,
            public_access="None",
            opts=protected,
        )
        azure.storage.ManagementPolicy(
            "bucket-lifecycle",
            management_policy_name="default",
            account_name=self.account.name,
            resource_group_name=group,
            policy={"rules": lifecycle(fleet)},
            opts=child,
        )
        self.vault = azure.keyvault.Vault(
            "vault",
            vault_name=vault_name(fleet, region),
            resource_group_name=group,
            location=region,
            properties={
                # What comes back is as it was; the next run, without this, says all the rest anew.
                **({"create_mode": azure.keyvault.CreateMode.RECOVER} if args["recover"] else {}),
                "tenant_id": fleet.azure.tenant_id,
                "sku": {"family": "A", "name": "standard"},
                "enable_rbac_authorization": True,
                "enable_soft_delete": True,
                "enable_purge_protection": True,
                "soft_delete_retention_in_days": VAULT_DAYS,
                "enabled_for_deployment": False,
                "enabled_for_disk_encryption": False,
                "enabled_for_template_deployment": False,
                # Machines come by the private endpoint; operators from where they are, and by roles alone.
                "public_network_access": "Enabled",
                "network_acls": {"default_action": "Allow", "bypass": "None"},
            },
            tags=owner.tags("vault"),
            opts=pulumi.ResourceOptions.merge(
                protected, pulumi.ResourceOptions(hooks=_soft_delete_hint(vault_name(fleet, region)))
            ),
        )
        self.vault_operators, _ = self._operators(fleet, region)
        self.register_outputs({})

    def _operators(self, fleet: Fleet, region: str) -> list[azure.authorization.RoleAssignment]:
        """Owning a vault or an account lets nobody at what is in it, and deleting a secret is the vault's business."""
        assert fleet.azure is not None
        group = fleet.azure.operators
        here = azure.authorization.get_client_config_output(opts=pulumi.InvokeOutputOptions(parent=self))
        made = []
        # By their names, which policies can tell before they are made.
        for what, scope, guid, after in (
            ("vault-operators", vault_id(fleet, region), SECRETS_OFFICER, self.vault),
            ("bucket-operators", bucket_id(fleet, region), BLOB_CONTRIBUTOR, self.account),
        ):
            assignment = azure.authorization.RoleAssignment(
                what,
                role_assignment_name=role_assignment(fleet, region, what),
                scope=scope,
                role_definition_id=role(fleet, guid),
                principal_id=group or here.object_id,
                **({"principal_type": "Group"} if group else {}),
                # Another operator's run takes nothing from the first one.
                opts=pulumi.ResourceOptions(
                    parent=self, depends_on=after, ignore_changes=[] if group else ["principalId"]
                ),
            )
            made.append(assignment)
        return made


def _soft_delete_hint(vault: str) -> pulumi.ResourceHookBinding:
    """Says what to do where Azure refuses a vault because it still keeps one of that name."""

    def tell(args: pulumi.ErrorHookArgs) -> bool:
        if args.failed_operation == "create" and any("deleted state" in error for error in args.errors):
            pulumi.log.error(
                f"Azure still keeps vault {vault}, which was deleted, and nobody can end that before its time. "
                f"`landbridge up` has it come back with the secrets in it; so does `{RECOVER}={vault} pulumi up`, "
                "after which a run without that says its settings anew."
            )
        return False

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook("vault-is-kept", tell)])


class SharesArgs(TypedDict):
    """`address` is the endpoint's, planned, in the subnet."""

    fleet: Fleet
    region: str
    spec: SharesSpec
    owner: Owner
    group: pulumi.Input[str]
    network_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    address: str


class Shares(pulumi.ComponentResource):
    """`shares` by name. NFS on Azure comes without TLS: the network alone decides who comes in."""

    def __init__(self, name: str, args: SharesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:storage:Shares", name, None, opts)
        fleet, region, owner, group = args["fleet"], args["region"], args["owner"], args["group"]
        child = pulumi.ResourceOptions(parent=self)
        protected = pulumi.ResourceOptions(parent=self, protect=True)
        self.account = azure.storage.StorageAccount(
            "shares",
            account_name=shares_account(fleet, region),
            resource_group_name=group,
            location=region,
            kind="FileStorage",
            sku={"name": "Premium_ZRS"},
            allow_shared_key_access=False,
            # Azure's rule for NFS 4.1, which has no encryption of its own.
            enable_https_traffic_only=False,
            public_network_access="Disabled",
            network_rule_set={"default_action": "Deny", "bypass": "None"},
            tags=owner.tags("shares"),
            opts=protected,
            **CLOSED,
        )
        azure.storage.FileServiceProperties(
            "shares-service",
            file_services_name="default",
            account_name=self.account.name,
            resource_group_name=group,
            share_delete_retention_policy={
                "enabled": args["spec"].backups,
                **({"days": 30} if args["spec"].backups else {}),
            },
            opts=child,
        )
        self.shares = {
            share.name: azure.storage.FileShare(
                f"share-{share.name}",
                share_name=share.name,
                account_name=self.account.name,
                resource_group_name=group,
                enabled_protocols="NFS",
                root_squash="RootSquash",
                share_quota=SHARE_GIB,
                opts=protected,
            )
            for share in args["spec"].shares
        }
        self.endpoint = Endpoint(
            "shares-endpoint",
            {
                "region": region,
                "service": FILES,
                "target_id": self.account.id,
                "network_id": args["network_id"],
                "subnet_id": args["subnet_id"],
                "group": group,
                "owner": owner,
                "address": args["address"],
            },
            child,
        )
        self.register_outputs({})
