"""Private DNS zones, their records and links; DNS resolvers."""

from collections.abc import Mapping

from ..kinds import Kind, within

N = "Microsoft.Network"
ZONE, RESOLVER = "privateDnsZones/{privateZoneName}", "dnsResolvers/{dnsResolverName}"
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
}
