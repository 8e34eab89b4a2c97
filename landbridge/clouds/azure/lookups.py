"""Finds in Azure what a killed run may have created without recording it.

Azure's resources are PUT under ids that follow from names of ours: whether one is there is a question, not a search.
"""

from collections.abc import Mapping
from typing import Any

from landbridge.errors import LandbridgeError

from .sign_in import credential

GROUP, GROUPS = (
    "azure-native:resources:ResourceGroup",
    "/subscriptions/{subscription}/resourceGroups/{resourceGroupName}",
)
# Namespace → a version of its API that knows all of these types.
VERSIONS = {
    "Microsoft.Authorization": "2022-04-01",
    "Microsoft.Compute": "2024-07-01",
    "Microsoft.Compute/disks": "2024-03-02",
    "Microsoft.KeyVault": "2023-07-01",
    "Microsoft.Insights": "2018-03-01",
    "Microsoft.Insights/actionGroups": "2022-06-01",
    "Microsoft.ManagedIdentity": "2023-01-31",
    "Microsoft.Network": "2024-05-01",
    "Microsoft.Network/dnsForwardingRulesets": "2022-07-01",
    "Microsoft.Network/dnsResolvers": "2022-07-01",
    "Microsoft.Network/privateDnsZones": "2020-06-01",
    "Microsoft.Storage": "2024-01-01",
}
NETWORK, DNS = "Microsoft.Network", "Microsoft.Network/privateDnsZones/{privateZoneName}"
RULESET = f"{NETWORK}/dnsForwardingRulesets/{{dnsForwardingRulesetName}}"
IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}"
ACCOUNT = "Microsoft.Storage/storageAccounts/{accountName}"
BLOB = "azure-native:storage:Blob"
# Type → its place in its resource group, with inputs in braces.
PLACES: Mapping[str, str] = {
    f"azure-native:{token}": place
    for token, place in {
        "authorization:RoleAssignment": "Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        "authorization:RoleDefinition": "Microsoft.Authorization/roleDefinitions/{roleDefinitionId}",
        "compute:Disk": "Microsoft.Compute/disks/{diskName}",
        "compute:VirtualMachine": "Microsoft.Compute/virtualMachines/{vmName}",
        "compute:VirtualMachineScaleSet": "Microsoft.Compute/virtualMachineScaleSets/{vmScaleSetName}",
        "dnsresolver:DnsForwardingRuleset": RULESET,
        "dnsresolver:DnsResolver": f"{NETWORK}/dnsResolvers/{{dnsResolverName}}",
        "dnsresolver:InboundEndpoint": f"{NETWORK}/dnsResolvers/{{dnsResolverName}}"
        "/inboundEndpoints/{inboundEndpointName}",
        "dnsresolver:ForwardingRule": f"{RULESET}/forwardingRules/{{forwardingRuleName}}",
        "dnsresolver:OutboundEndpoint": f"{NETWORK}/dnsResolvers/{{dnsResolverName}}"
        "/outboundEndpoints/{outboundEndpointName}",
        "dnsresolver:PrivateResolverVirtualNetworkLink": f"{RULESET}/virtualNetworkLinks/{{virtualNetworkLinkName}}",
        "keyvault:Secret": "Microsoft.KeyVault/vaults/{vaultName}/secrets/{secretName}",
        "keyvault:Vault": "Microsoft.KeyVault/vaults/{vaultName}",
        "managedidentity:FederatedIdentityCredential": f"{IDENTITY}"
        "/federatedIdentityCredentials/{federatedIdentityCredentialResourceName}",
        "managedidentity:UserAssignedIdentity": IDENTITY,
        "monitor:ActionGroup": "Microsoft.Insights/actionGroups/{actionGroupName}",
        "monitor:MetricAlert": "Microsoft.Insights/metricAlerts/{ruleName}",
        "network:ApplicationSecurityGroup": f"{NETWORK}/applicationSecurityGroups/{{applicationSecurityGroupName}}",
        "network:FlowLog": f"{NETWORK}/networkWatchers/{{networkWatcherName}}/flowLogs/{{flowLogName}}",
        "network:LoadBalancer": f"{NETWORK}/loadBalancers/{{loadBalancerName}}",
        "network:LocalNetworkGateway": f"{NETWORK}/localNetworkGateways/{{localNetworkGatewayName}}",
        "network:NatGateway": f"{NETWORK}/natGateways/{{natGatewayName}}",
        "network:NetworkInterface": f"{NETWORK}/networkInterfaces/{{networkInterfaceName}}",
        "network:NetworkSecurityGroup": f"{NETWORK}/networkSecurityGroups/{{networkSecurityGroupName}}",
        "network:PrivateDnsZoneGroup": f"{NETWORK}/privateEndpoints/{{privateEndpointName}}"
        "/privateDnsZoneGroups/{privateDnsZoneGroupName}",
        "network:PrivateEndpoint": f"{NETWORK}/privateEndpoints/{{privateEndpointName}}",
        "network:PublicIPAddress": f"{NETWORK}/publicIPAddresses/{{publicIpAddressName}}",
        "network:RouteTable": f"{NETWORK}/routeTables/{{routeTableName}}",
        "network:VirtualNetwork": f"{NETWORK}/virtualNetworks/{{virtualNetworkName}}",
        "network:VirtualNetworkGateway": f"{NETWORK}/virtualNetworkGateways/{{virtualNetworkGatewayName}}",
        "network:VirtualNetworkGatewayConnection": f"{NETWORK}/connections/{{virtualNetworkGatewayConnectionName}}",
        "network:VirtualNetworkPeering": f"{NETWORK}/virtualNetworks/{{virtualNetworkName}}"
        "/virtualNetworkPeerings/{virtualNetworkPeeringName}",
        "privatedns:PrivateRecordSet": f"{DNS}/{{recordType}}/{{relativeRecordSetName}}",
        "privatedns:PrivateZone": DNS,
        "privatedns:VirtualNetworkLink": f"{DNS}/virtualNetworkLinks/{{virtualNetworkLinkName}}",
        "storage:Blob": f"{ACCOUNT}/blobServices/default/containers/{{containerName}}/blobs/{{blobName}}",
        "storage:BlobContainer": f"{ACCOUNT}/blobServices/default/containers/{{containerName}}",
        "storage:BlobServiceProperties": f"{ACCOUNT}/blobServices/{{blobServicesName}}",
        "storage:FileServiceProperties": f"{ACCOUNT}/fileServices/{{fileServicesName}}",
        "storage:FileShare": f"{ACCOUNT}/fileServices/default/shares/{{shareName}}",
        "storage:ManagementPolicy": f"{ACCOUNT}/managementPolicies/{{managementPolicyName}}",
        "storage:StorageAccount": ACCOUNT,
    }.items()
}


# Those that stand at any place, which an input names.
SCOPED = ("azure-native:authorization:RoleAssignment", "azure-native:authorization:RoleDefinition")


def known(type_: str) -> bool:
    """Whether this finds resources of the type."""
    return type_ in PLACES or type_ == GROUP


def id_of(subscription: str, type_: str, inputs: Mapping[str, Any]) -> str:
    """Raises KeyError for a type that is not known, and for inputs without one of its names."""
    place = GROUPS if type_ == GROUP else f"{'{scope}' if type_ in SCOPED else GROUPS}/providers/{PLACES[type_]}"
    return place.format(subscription=subscription, **inputs)


def version_of(type_: str) -> str:
    """Of the API that knows a type of `PLACES`."""
    return VERSIONS[max((name for name in VERSIONS if PLACES[type_].startswith(f"{name}/")), key=len)]


def find(subscription: str, type_: str, inputs: Mapping[str, Any]) -> str | None:
    """The id of the resource if Azure has it. Raises LandbridgeError where that can't be asked."""
    # A second of imports that few runs need.
    from azure.core.exceptions import AzureError, ResourceNotFoundError
    from azure.mgmt.resource.resources import ResourceManagementClient

    try:
        client = ResourceManagementClient(credential(), subscription)
        if type_ == GROUP:
            return str(client.resource_groups.get(inputs["resourceGroupName"]).id)
        id_ = id_of(subscription, type_, inputs)
        if type_ == BLOB:
            return id_ if _has_blob(inputs) else None
        return str(client.resources.get_by_id(id_, api_version=version_of(type_)).id)
    except (ResourceNotFoundError, KeyError):
        return None
    except AzureError as error:
        # Taken for "not there", what is there would be refused as existing already, for ever.
        why = str(error).partition("\n")[0]
        raise LandbridgeError(
            f"Azure can't be asked whether a killed run has made {id_of(subscription, type_, inputs)}: {why}. Sign in "
            "(`az login`, or ARM_CLIENT_ID and ARM_CLIENT_SECRET) and run `landbridge up` again."
        ) from None


def _has_blob(inputs: Mapping[str, Any]) -> bool:
    """ARM does not know blobs: their account is asked. Raises AzureError."""
    from azure.storage.blob import BlobClient

    account = f"https://{inputs['accountName']}.blob.core.windows.net"
    return bool(BlobClient(account, inputs["containerName"], inputs["blobName"], credential=credential()).exists())
