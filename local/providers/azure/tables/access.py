"""Resource groups, identities, roles; vaults with their secrets and keys."""

from collections.abc import Mapping

from ..kinds import GROUP, Kind, within

M, V = "Microsoft.ManagedIdentity", "Microsoft.KeyVault"
IDENTITY, VAULT = "userAssignedIdentities/{resourceName}", "vaults/{vaultName}"
ROLES = "/{scope}/providers/Microsoft.Authorization"
PLACED = frozenset(("location",))

KINDS: Mapping[str, Kind] = {
    "azure-native:resources:ResourceGroup": Kind(GROUP, "resource.resources.ResourceGroup", replace=PLACED),
    "azure-native:managedidentity:UserAssignedIdentity": Kind(
        within(M, IDENTITY), "msi.v2024_11_30.Identity", replace=PLACED
    ),
    "azure-native:managedidentity:FederatedIdentityCredential": Kind(
        within(M, f"{IDENTITY}/federatedIdentityCredentials/{{federatedIdentityCredentialResourceName}}"),
        "msi.v2024_11_30.FederatedIdentityCredential",
    ),
    "azure-native:authorization:RoleAssignment": Kind(
        f"{ROLES}/roleAssignments/{{roleAssignmentName}}",
        "authorization.v2022_04_01.RoleAssignmentCreateParameters",
        answer="authorization.v2022_04_01.RoleAssignment",
        replace=frozenset(("principalId",)),
    ),
    "azure-native:authorization:RoleDefinition": Kind(
        f"{ROLES}/roleDefinitions/{{roleDefinitionId}}",
        "authorization.v2022_05_01_preview.RoleDefinition",
    ),
    "azure-native:keyvault:Vault": Kind(
        within(V, VAULT),
        "keyvault.VaultCreateOrUpdateParameters",
        answer="keyvault.Vault",
        subresources=("properties.accessPolicies",),
    ),
    "azure-native:keyvault:Secret": Kind(
        within(V, f"{VAULT}/secrets/{{secretName}}"),
        "keyvault.SecretCreateOrUpdateParameters",
        answer="keyvault.Secret",
    ),
    "azure-native:keyvault:Key": Kind(
        within(V, f"{VAULT}/keys/{{keyName}}"), "keyvault.KeyCreateParameters", answer="keyvault.Key"
    ),
}
