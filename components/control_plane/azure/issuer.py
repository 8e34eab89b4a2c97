"""A cluster's public issuer on Azure: a storage account that holds two documents and nothing else."""

import pulumi
import pulumi_azure_native as azure

from fleet import issuers
from fleet.buckets import resource_group

from ..issuer import AnyIssuer, IssuerArgs, resource_name

# How long a document that was replaced can be had back.
DELETED_DAYS = 7


class Issuer(AnyIssuer):
    """Everybody may read two documents by their names, which hold public keys; nobody may list them."""

    def __init__(self, name: str, args: IssuerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        fleet, spec, owner = args["fleet"], args["spec"], args["owner"]
        group = resource_group(fleet, spec.region)
        account = azure.storage.StorageAccount(
            name,
            account_name=self.named,
            resource_group_name=group,
            location=spec.region,
            kind="StorageV2",
            sku={"name": "Standard_ZRS"},
            # The two documents: see fleet.issuers.
            allow_blob_public_access=True,
            allow_cross_tenant_replication=False,
            # Pulumi's own upload of blobs knows no other way: pulumi/pulumi-azure-native issue 2015.
            allow_shared_key_access=True,
            default_to_o_auth_authentication=True,
            enable_https_traffic_only=True,
            minimum_tls_version="TLS1_2",
            public_network_access="Enabled",
            tags=owner.tags(name),
            # With another address every token and every cloud role's trust would be worth nothing.
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        azure.storage.BlobServiceProperties(
            f"{name}-service",
            blob_services_name="default",
            account_name=self.named,
            resource_group_name=group,
            is_versioning_enabled=True,
            delete_retention_policy={"enabled": True, "days": DELETED_DAYS},
            opts=pulumi.ResourceOptions(parent=self, depends_on=account),
        )
        container = azure.storage.BlobContainer(
            name,
            container_name=issuers.CONTAINER,
            account_name=self.named,
            resource_group_name=group,
            public_access="Blob",
            opts=pulumi.ResourceOptions(parent=self, protect=True, depends_on=account),
        )
        for path, text in self.documents.items():
            azure.storage.Blob(
                resource_name(name, path),
                account_name=self.named,
                container_name=container.name,
                resource_group_name=group,
                blob_name=path,
                type="Block",
                content_type="application/json",
                source=text.apply(pulumi.StringAsset),
                # Another content is another blob to Pulumi: for a moment of a key's rotation it is away.
                opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
            )
        self.register_outputs({})
