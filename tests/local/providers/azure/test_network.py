"""Types that a region's network on Azure is of, against a local Azure: made, read back without a difference, gone."""

from typing import Any

from local.providers.azure.backend import Azure
from tests.local.azure.support import LocalAzure

PLACE = {"location": "southcentralus"}


def chain(place: str) -> list[tuple[str, dict[str, Any]]]:
    """Token and inputs, each after what it needs."""

    def id_(rest: str) -> dict[str, str]:
        return {"id": f"{place}/providers/Microsoft.Network/{rest}"}

    def address(name: str) -> tuple[str, dict[str, Any]]:
        sku = {"name": "Standard", "tier": "Regional"}
        more = {"publicIpAddressName": name, "sku": sku, "publicIPAllocationMethod": "Static", "zones": ["1"]}
        return "network:PublicIPAddress", {**PLACE, **more, "tags": {"a": "b"}}

    rule = {"name": "https", "priority": 100, "direction": "Inbound", "access": "Allow", "protocol": "Tcp"}
    rule |= {"sourceAddressPrefix": "*", "sourcePortRange": "*"}
    rule |= {"destinationAddressPrefix": "*", "destinationPortRange": "443"}
    parts = {
        "networkSecurityGroup": id_("networkSecurityGroups/g"),
        "routeTable": id_("routeTables/t"),
        "natGateway": id_("natGateways/n"),
    }
    subnets = [
        {"name": "private-1", "addressPrefix": "10.1.1.0/24", "defaultOutboundAccess": False, **parts},
        {"name": "GatewaySubnet", "addressPrefix": "10.1.0.0/24"},
        {
            "name": "names",
            "addressPrefix": "10.1.2.0/24",
            "delegations": [{"name": "names", "serviceName": "Microsoft.Network/dnsResolvers"}],
        },
        {
            "name": "questions",
            "addressPrefix": "10.1.3.0/28",
            "delegations": [{"name": "questions", "serviceName": "Microsoft.Network/dnsResolvers"}],
        },
    ]
    within, ruleset = {"virtualNetworkName": "v"}, {"dnsForwardingRulesetName": "s"}
    hop = {"nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.1.4"}
    ends = [
        {
            "name": f"end-{n}",
            "publicIPAddress": id_(f"publicIPAddresses/hub-{n}"),
            "subnet": id_("virtualNetworks/v/subnets/GatewaySubnet"),
        }
        for n in (1, 2)
    ]
    gateway = {"gatewayType": "Vpn", "vpnType": "RouteBased", "vpnGatewayGeneration": "Generation2"}
    gateway |= {"sku": {"name": "VpnGw2AZ", "tier": "VpnGw2AZ"}, "activeActive": True, "enableBgp": True}
    connection = {"virtualNetworkGateway1": id_("virtualNetworkGateways/hub")}
    connection |= {"localNetworkGateway2": id_("localNetworkGateways/site")}
    pool = id_("loadBalancers/b/backendAddressPools/p")
    answer = {"name": "f", "privateIPAddress": "10.1.1.10", "privateIPAllocationMethod": "Static"}
    answer |= {"subnet": id_("virtualNetworks/v/subnets/private-1")}
    balancing = {"name": "r", "protocol": "Tcp", "frontendPort": 443, "backendPort": 443}
    balancing |= {
        "frontendIPConfiguration": {"id": "$self/frontendIPConfigurations/f"},
        "backendAddressPools": [{"id": "$self/backendAddressPools/p"}],
        "probe": {"id": "$self/probes/o"},
    }
    card = {"name": "c", "privateIPAddress": "10.1.1.4", "privateIPAllocationMethod": "Static"}
    card |= {"subnet": id_("virtualNetworks/v/subnets/private-1"), "loadBalancerBackendAddressPools": [pool]}
    alarm = {
        "odataType": "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria",
        "allOf": [
            {
                "criterionType": "StaticThresholdCriterion",
                "name": "it",
                "metricNamespace": "Microsoft.Network/virtualNetworkGateways",
                "metricName": "BgpPeerStatus",
                "operator": "LessThanOrEqual",
                "threshold": 0.0,
                "timeAggregation": "Average",
                "dimensions": [{"name": "Instance", "operator": "Include", "values": ["*"]}],
            }
        ],
    }
    end = {"subnet": id_("virtualNetworks/v/subnets/names"), "privateIpAddress": "10.1.2.4"}
    end |= {"privateIpAllocationMethod": "Static"}
    return [
        address("nat"),
        address("hub-1"),
        address("hub-2"),
        ("network:NetworkSecurityGroup", {**PLACE, "networkSecurityGroupName": "g", "securityRules": [rule]}),
        ("network:RouteTable", {**PLACE, "routeTableName": "t", "disableBgpRoutePropagation": False}),
        ("network:Route", {"routeTableName": "t", "routeName": "pods", "addressPrefix": "10.9.0.0/24", **hop}),
        (
            "network:NatGateway",
            {
                **PLACE,
                "natGatewayName": "n",
                "sku": {"name": "Standard"},
                "publicIpAddresses": [id_("publicIPAddresses/nat")],
                "zones": ["1"],
            },
        ),
        (
            "network:VirtualNetwork",
            {**PLACE, **within, "addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}, "subnets": subnets},
        ),
        (
            "network:VirtualNetworkGateway",
            {
                **PLACE,
                **gateway,
                "virtualNetworkGatewayName": "hub",
                "bgpSettings": {"asn": 64520},
                "ipConfigurations": ends,
            },
        ),
        (
            "network:LocalNetworkGateway",
            {
                **PLACE,
                "localNetworkGatewayName": "site",
                "gatewayIpAddress": "192.0.2.10",
                "bgpSettings": {"asn": 65010, "bgpPeeringAddress": "169.254.21.1"},
            },
        ),
        (
            "network:VirtualNetworkGatewayConnection",
            {
                **PLACE,
                **connection,
                "connectionType": "IPsec",
                "enableBgp": True,
                "virtualNetworkGatewayConnectionName": "site",
                "sharedKey": "hush-42",
                "connectionProtocol": "IKEv2",
            },
        ),
        (
            "network:LoadBalancer",
            {
                **PLACE,
                "loadBalancerName": "b",
                "sku": {"name": "Standard"},
                "frontendIPConfigurations": [answer],
                "backendAddressPools": [{"name": "p"}],
                "probes": [{"name": "o", "protocol": "Tcp", "port": 443, "intervalInSeconds": 5}],
                "loadBalancingRules": [balancing],
            },
        ),
        ("network:NetworkInterface", {**PLACE, "networkInterfaceName": "n", "ipConfigurations": [card]}),
        (
            "monitor:ActionGroup",
            {
                "location": "global",
                "actionGroupName": "ops",
                "groupShortName": "ops",
                "enabled": True,
                "emailReceivers": [{"name": "a", "emailAddress": "a@example.com", "useCommonAlertSchema": True}],
                "tags": {"a": "b"},
            },
        ),
        (
            "monitor:MetricAlert",
            {
                "location": "global",
                "ruleName": "one-down",
                "description": "one tunnel is down",
                "enabled": True,
                "severity": 2,
                "scopes": [id_("virtualNetworkGateways/hub")["id"]],
                "targetResourceType": "Microsoft.Network/virtualNetworkGateways",
                "targetResourceRegion": "southcentralus",
                "evaluationFrequency": "PT5M",
                "windowSize": "PT15M",
                "criteria": alarm,
                "autoMitigate": True,
                "actions": [{"actionGroupId": f"{place}/providers/Microsoft.Insights/actionGroups/ops"}],
                "tags": {"a": "b"},
            },
        ),
        ("privatedns:PrivateZone", {"location": "global", "privateZoneName": "f.example"}),
        (
            "privatedns:VirtualNetworkLink",
            {
                "location": "global",
                "privateZoneName": "f.example",
                "virtualNetworkLinkName": "l",
                "registrationEnabled": False,
                "virtualNetwork": id_("virtualNetworks/v"),
            },
        ),
        (
            "privatedns:PrivateRecordSet",
            {
                "privateZoneName": "f.example",
                "recordType": "A",
                "relativeRecordSetName": "api",
                "ttl": 60,
                "aRecords": [{"ipv4Address": "10.1.1.10"}],
            },
        ),
        ("dnsresolver:DnsResolver", {**PLACE, "dnsResolverName": "r", "virtualNetwork": id_("virtualNetworks/v")}),
        (
            "dnsresolver:InboundEndpoint",
            {**PLACE, "dnsResolverName": "r", "inboundEndpointName": "e", "ipConfigurations": [end]},
        ),
        (
            "dnsresolver:OutboundEndpoint",
            {
                **PLACE,
                "dnsResolverName": "r",
                "outboundEndpointName": "o",
                "subnet": id_("virtualNetworks/v/subnets/questions"),
                "tags": {"a": "b"},
            },
        ),
        (
            "dnsresolver:DnsForwardingRuleset",
            {
                **PLACE,
                **ruleset,
                "dnsResolverOutboundEndpoints": [id_("dnsResolvers/r/outboundEndpoints/o")],
                "tags": {"a": "b"},
            },
        ),
        (
            "dnsresolver:ForwardingRule",
            {
                **ruleset,
                "forwardingRuleName": "west",
                "domainName": "west.f.example.",
                "forwardingRuleState": "Enabled",
                "targetDnsServers": [{"ipAddress": "10.2.0.8", "port": 53}, {"ipAddress": "10.2.1.8", "port": 53}],
            },
        ),
        (
            "dnsresolver:PrivateResolverVirtualNetworkLink",
            {**ruleset, "virtualNetworkLinkName": "l", "virtualNetwork": id_("virtualNetworks/v")},
        ),
    ]


def test_a_region_s_types_are_made_read_back_as_they_were_and_gone(
    plugin: Azure,
    azure: LocalAzure,
    group: str,
    place: str,
) -> None:
    made = []
    before = azure.own("inventory")
    for token, inputs in chain(place):
        token, inputs = f"azure-native:{token}", {"resourceGroupName": group, **inputs}
        id_, state = plugin.create(token, inputs)
        assert "hush" not in str(state)
        made.append((token, id_, inputs, state))
    for token, id_, inputs, _ in made:
        # What stands on it has changed it since: what is told then is what the next read is compared with.
        found = plugin.read(token, id_, inputs, plugin.engine(token)._state(id_)[1])
        assert found is not None
        assert found[0] == inputs, token
    for token, id_, inputs, state in made:
        changed = {**inputs, "tags": {"word": "two"}} if "tags" in inputs else inputs
        assert plugin.read(token, id_, changed, plugin.update(token, id_, inputs, changed, state)) is not None
    for token, id_, _, state in reversed(made):
        plugin.delete(token, id_, state)
        assert plugin.read(token, id_, {}, {}) is None
    assert azure.own("inventory") == before
