"""Private DNS zones, their records and links; DNS resolvers, and what they ask elsewhere."""

from collections.abc import Mapping

from ..kinds import Kind, within

N = "Microsoft.Network"
ZONE, RESOLVER = "privateDnsZones/{privateZoneName}", "dnsResolvers/{dnsResolverName}"
RULESET = "dnsForwardingRulesets/{dnsForwardingRulesetName}"
PLACED = frozenset(("location",))

KINDS: Mapping[str, Kind] = {
    "azure-native:privatedns:PrivateZone": Kind(within(N, ZONE), "privatedns.PrivateZone"),
    "azure-native:privatedns:VirtualNetworkLink": Kind(
        within(N, f"{ZONE}/virtualNetworkLinks/{{virtualNetworkLinkName}}"), "privatedns.VirtualNetworkLink"
    ),
    "azure-native:privatedns:PrivateRecordSet": Kind(
        within(N, f"{ZONE}/{{recordType}}/{{relativeRecordSetName}}"), "privatedns.RecordSet"
    ),
    "azure-native:dnsresolver:DnsResolver": Kind(within(N, RESOLVER), None, replace=PLACED),
    "azure-native:dnsresolver:InboundEndpoint": Kind(
        within(N, f"{RESOLVER}/inboundEndpoints/{{inboundEndpointName}}"), None, replace=PLACED
    ),
    "azure-native:dnsresolver:OutboundEndpoint": Kind(
        within(N, f"{RESOLVER}/outboundEndpoints/{{outboundEndpointName}}"), None, replace=PLACED | {"subnet"}
    ),
    "azure-native:dnsresolver:DnsForwardingRuleset": Kind(within(N, RULESET), None, replace=PLACED),
    "azure-native:dnsresolver:ForwardingRule": Kind(
        within(N, f"{RULESET}/forwardingRules/{{forwardingRuleName}}"), None, replace=frozenset(("domainName",))
    ),
    "azure-native:dnsresolver:PrivateResolverVirtualNetworkLink": Kind(
        within(N, f"{RULESET}/virtualNetworkLinks/{{virtualNetworkLinkName}}"),
        None,
        replace=frozenset(("virtualNetwork",)),
    ),
}
