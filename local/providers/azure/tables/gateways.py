"""VPN gateways, the other ends that they know of, connections; load balancers."""

from collections.abc import Mapping

from ..kinds import Kind, within

N = "Microsoft.Network"

KINDS: Mapping[str, Kind] = {
    "azure-native:network:VirtualNetworkGateway": Kind(
        within(N, "virtualNetworkGateways/{virtualNetworkGatewayName}"),
        "network.VirtualNetworkGateway",
        subresources=("natRules",),
    ),
    "azure-native:network:LocalNetworkGateway": Kind(
        within(N, "localNetworkGateways/{localNetworkGatewayName}"), "network.LocalNetworkGateway"
    ),
    "azure-native:network:VirtualNetworkGatewayConnection": Kind(
        within(N, "connections/{virtualNetworkGatewayConnectionName}"), "network.VirtualNetworkGatewayConnection"
    ),
    "azure-native:network:LoadBalancer": Kind(
        within(N, "loadBalancers/{loadBalancerName}"),
        "network.LoadBalancer",
        subresources=("backendAddressPools", "inboundNatRules"),
    ),
}
