"""Built-in roles that fleets use, by GUID, as Azure documents them ("Azure built-in roles").

Those of people alone and of services that the local Azure does not have are left out: nothing is assigned to them.
"""

from typing import Any, NamedTuple


class Role(NamedTuple):
    """What it lets do. `data` are dataActions: what is in a container or a vault, never reached by `actions`."""

    guid: str
    name: str
    actions: tuple[str, ...] = ()
    not_actions: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    not_data: tuple[str, ...] = ()

    @property
    def permissions(self) -> list[dict[str, Any]]:
        return [
            {
                "actions": list(self.actions),
                "notActions": list(self.not_actions),
                "dataActions": list(self.data),
                "notDataActions": list(self.not_data),
            }
        ]


_COMMON = (
    *("Microsoft.Authorization/*/read", "Microsoft.Insights/alertRules/*", "Microsoft.Resources/deployments/*"),
    *("Microsoft.Resources/subscriptions/resourceGroups/read", "Microsoft.ResourceHealth/availabilityStatuses/read"),
)
_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
_BLOBS = f"{_CONTAINERS}/blobs"
_DELEGATE = "Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action"
_SECRETS = "Microsoft.KeyVault/vaults/secrets"
_KEYS = "Microsoft.KeyVault/vaults/keys"
_VAULT_READS = (
    *("Microsoft.KeyVault/checkNameAvailability/read", "Microsoft.KeyVault/deletedVaults/read"),
    *("Microsoft.KeyVault/locations/*/read", "Microsoft.KeyVault/vaults/*/read", "Microsoft.KeyVault/operations/read"),
)

ROLES = (
    Role("8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner", ("*",)),
    Role(
        "b24988ac-6180-42a0-ab88-20f7382dd24c",
        "Contributor",
        ("*",),
        (
            *("Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write"),
            *("Microsoft.Authorization/elevateAccess/Action", "Microsoft.Blueprint/blueprintAssignments/write"),
            *("Microsoft.Blueprint/blueprintAssignments/delete", "Microsoft.Compute/galleries/share/action"),
        ),
    ),
    Role("acdd72a7-3385-48ef-bd42-f606fba81ae7", "Reader", ("*/read",)),
    Role(
        "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
        "User Access Administrator",
        ("*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"),
    ),
    Role(
        "f58310d9-a9f6-439a-9e8d-f62e7b41a168",
        "Role Based Access Control Administrator",
        (
            *("Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleAssignments/delete"),
            *("*/read", "Microsoft.Support/*"),
        ),
    ),
    Role("4d97b98b-1d4f-4787-a291-c67834d212e7", "Network Contributor", (*_COMMON, "Microsoft.Network/*")),
    Role(
        "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
        "Private DNS Zone Contributor",
        (
            *_COMMON,
            *("Microsoft.Network/privateDnsZones/*", "Microsoft.Network/privateDnsOperationResults/*"),
            *("Microsoft.Network/privateDnsOperationStatuses/*", "Microsoft.Network/virtualNetworks/read"),
            "Microsoft.Network/virtualNetworks/join/action",
        ),
    ),
    Role(
        "9980e02c-c2be-4d73-94e8-173b1dc7cf3c",
        "Virtual Machine Contributor",
        (
            *_COMMON,
            *("Microsoft.Compute/availabilitySets/*", "Microsoft.Compute/locations/*"),
            *("Microsoft.Compute/virtualMachines/*", "Microsoft.Compute/virtualMachineScaleSets/*"),
            *("Microsoft.Compute/cloudServices/*", "Microsoft.Compute/disks/write", "Microsoft.Compute/disks/read"),
            *("Microsoft.Compute/disks/delete", "Microsoft.KeyVault/vaults/deploy/action"),
            "Microsoft.Network/applicationGateways/backendAddressPools/join/action",
            "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
            "Microsoft.Network/loadBalancers/inboundNatPools/join/action",
            "Microsoft.Network/loadBalancers/inboundNatRules/join/action",
            *("Microsoft.Network/loadBalancers/probes/join/action", "Microsoft.Network/loadBalancers/read"),
            *("Microsoft.Network/locations/*", "Microsoft.Network/networkInterfaces/*"),
            "Microsoft.Network/networkSecurityGroups/join/action",
            *("Microsoft.Network/networkSecurityGroups/read", "Microsoft.Network/publicIPAddresses/join/action"),
            *("Microsoft.Network/publicIPAddresses/read", "Microsoft.Network/virtualNetworks/read"),
            "Microsoft.Network/virtualNetworks/subnets/join/action",
            *("Microsoft.Storage/storageAccounts/listKeys/action", "Microsoft.Storage/storageAccounts/read"),
        ),
    ),
    Role(
        "f1a07417-d97a-45cb-824c-7a7467783830",
        "Managed Identity Operator",
        (
            *_COMMON,
            "Microsoft.ManagedIdentity/userAssignedIdentities/*/read",
            "Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action",
        ),
    ),
    Role(
        "e40ec5ca-96e0-45a2-b4ff-59039f2c2b59",
        "Managed Identity Contributor",
        (
            *_COMMON,
            "Microsoft.ManagedIdentity/userAssignedIdentities/read",
            "Microsoft.ManagedIdentity/userAssignedIdentities/write",
            "Microsoft.ManagedIdentity/userAssignedIdentities/delete",
            "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/*",
        ),
    ),
    Role(
        "17d1049b-9a84-46fb-8f53-869881c3d3ab",
        "Storage Account Contributor",
        (
            *_COMMON,
            *("Microsoft.Insights/diagnosticSettings/*", "Microsoft.Storage/storageAccounts/*"),
            "Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action",
        ),
    ),
    Role(
        "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
        "Storage Blob Data Reader",
        (f"{_CONTAINERS}/read", _DELEGATE),
        data=(f"{_BLOBS}/read",),
    ),
    Role(
        "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
        "Storage Blob Data Contributor",
        (f"{_CONTAINERS}/delete", f"{_CONTAINERS}/read", f"{_CONTAINERS}/write", _DELEGATE),
        data=tuple(f"{_BLOBS}/{verb}" for verb in ("delete", "read", "write", "move/action", "add/action")),
    ),
    Role(
        "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
        "Storage Blob Data Owner",
        (f"{_CONTAINERS}/*", _DELEGATE),
        data=(f"{_BLOBS}/*",),
    ),
    Role("db58b8e5-c6ad-4a2a-8342-4190687cbf4a", "Storage Blob Delegator", (_DELEGATE,)),
    Role(
        "00482a5a-887f-4fb3-b363-3b7fe8e74483",
        "Key Vault Administrator",
        (*_COMMON, *_VAULT_READS),
        data=("Microsoft.KeyVault/vaults/*",),
    ),
    Role(
        "f25e0fa2-a7c8-4377-a976-54943a77a395",
        "Key Vault Contributor",
        (*_COMMON, "Microsoft.KeyVault/*"),
        ("Microsoft.KeyVault/locations/deletedVaults/purge/action", "Microsoft.KeyVault/hsmPools/*"),
    ),
    Role(
        "21090545-7ca7-4776-b22c-e363652d74d2",
        "Key Vault Reader",
        (*_COMMON, *_VAULT_READS),
        data=("Microsoft.KeyVault/vaults/*/read", f"{_SECRETS}/readMetadata/action"),
    ),
    Role(
        "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
        "Key Vault Secrets Officer",
        (*_COMMON, *_VAULT_READS),
        data=(f"{_SECRETS}/*",),
    ),
    Role(
        "4633458b-17de-408a-b874-0445c86b69e6",
        "Key Vault Secrets User",
        data=(f"{_SECRETS}/getSecret/action", f"{_SECRETS}/readMetadata/action"),
    ),
    Role(
        "14b46e9e-c2b7-41b4-b07b-48a6ebf60603",
        "Key Vault Crypto Officer",
        (*_COMMON, *_VAULT_READS),
        data=(f"{_KEYS}/*", "Microsoft.KeyVault/vaults/keyrotationpolicies/*"),
    ),
    Role(
        "e147488a-f6f5-4113-8e2d-b22465e65bf6",
        "Key Vault Crypto Service Encryption User",
        ("Microsoft.EventGrid/eventSubscriptions/write", "Microsoft.EventGrid/eventSubscriptions/read"),
        data=(f"{_KEYS}/read", f"{_KEYS}/wrap/action", f"{_KEYS}/unwrap/action"),
    ),
)
BY_GUID = {role.guid: role for role in ROLES}
