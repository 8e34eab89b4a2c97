"""Microsoft.Network, but for gateways and balancers."""

from collections.abc import Mapping

from ..kinds import Kind, within

N = "Microsoft.Network"
VNET, NSG, TABLE = (
    "virtualNetworks/{virtualNetworkName}",
    "networkSecurityGroups/{networkSecurityGroupName}",
    "routeTables/{routeTableName}",
)
ENDPOINT, WATCHER = "privateEndpoints/{privateEndpointName}", "networkWatchers/{networkWatcherName}"

# What the real provider replaces: its provider/pkg/gen/replacement.go.
KINDS: Mapping[str, Kind] = {
    "azure-native:network:VirtualNetwork": Kind(
        within(N, VNET),
        "network.VirtualNetwork",
        replace=frozenset(("location",)),
        subresources=("subnets", "virtualNetworkPeerings"),
    ),
    "azure-native:network:Subnet": Kind(within(N, f"{VNET}/subnets/{{subnetName}}"), "network.Subnet"),
    "azure-native:network:VirtualNetworkPeering": Kind(
        within(N, f"{VNET}/virtualNetworkPeerings/{{virtualNetworkPeeringName}}"),
        "network.VirtualNetworkPeering",
        query=("syncRemoteAddressSpace",),
    ),
    "azure-native:network:NetworkSecurityGroup": Kind(
        within(N, NSG), "network.NetworkSecurityGroup", subresources=("securityRules",)
    ),
    "azure-native:network:ApplicationSecurityGroup": Kind(
        within(N, "applicationSecurityGroups/{applicationSecurityGroupName}"), "network.ApplicationSecurityGroup"
    ),
    "azure-native:network:SecurityRule": Kind(
        within(N, f"{NSG}/securityRules/{{securityRuleName}}"), "network.SecurityRule"
    ),
    "azure-native:network:RouteTable": Kind(within(N, TABLE), "network.RouteTable", subresources=("routes",)),
    "azure-native:network:Route": Kind(within(N, f"{TABLE}/routes/{{routeName}}"), "network.Route"),
    "azure-native:network:NatGateway": Kind(within(N, "natGateways/{natGatewayName}"), "network.NatGateway"),
    "azure-native:network:PublicIPAddress": Kind(
        within(N, "publicIPAddresses/{publicIpAddressName}"),
        "network.PublicIPAddress",
        replace=frozenset(("location", "publicIPAddressVersion", "publicIPPrefix", "sku")),
    ),
    "azure-native:network:NetworkInterface": Kind(
        within(N, "networkInterfaces/{networkInterfaceName}"), "network.NetworkInterface"
    ),
    "azure-native:network:PrivateEndpoint": Kind(
        within(N, ENDPOINT), "network.PrivateEndpoint", replace=frozenset(("subnet",))
    ),
    "azure-native:network:PrivateDnsZoneGroup": Kind(
        within(N, f"{ENDPOINT}/privateDnsZoneGroups/{{privateDnsZoneGroupName}}"), "network.PrivateDnsZoneGroup"
    ),
    "azure-native:network:NetworkWatcher": Kind(within(N, WATCHER), "network.NetworkWatcher"),
    "azure-native:network:FlowLog": Kind(within(N, f"{WATCHER}/flowLogs/{{flowLogName}}"), "network.FlowLog"),
}
