"""How each tunnel between two clouds is, by what AWS says of its end: it begins them, and Azure's only answers."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from components.links.aws.cross_cloud import CrossCloudConnection, cross_cloud_connections
from components.links.plan import Crossing
from components.tags import Owner
from stacks.catalogue import LINKS

from .info import Connections
from .tunnel_status import AGREED, DOWN, NONE, SILENT, UNKNOWN, UP

CAUSES = {
    SILENT: "the two clouds have no keys agreed: `{up}` undoes what was changed of an end by hand, and AWS begins anew "
    "by itself; the connection in Azure says whether it is Connected",
    AGREED: "both ends have their keys, and BGP does not speak: `{up}` writes numbers and inside addresses anew",
}
NO_ROUTE = (
    "it is up, and Azure's gateway tells it nothing: `az network vnet-gateway list-bgp-peer-status` there has more"
)


class CrossCloudStatus(NamedTuple):
    """A tunnel as AWS's end sees it. `prefixes` are what it took from Azure; `trouble` is why it carries nothing."""

    tunnel: str
    aws: str
    azure: str
    address: str
    state: str
    since: datetime | None = None
    prefixes: int = 0
    trouble: str = ""


def cross_cloud_statuses(links: Connections) -> list[CrossCloudStatus]:
    """Every one that is planned, in the plan's order. A region that can't be asked stops no other one."""
    world = links.world
    made = cross_cloud_connections(world.fleet, world.plan)
    return [
        one
        for region in dict.fromkeys(one.aws for one in made)
        for one in _of_region(links, region, [one for one in made if one.aws == region])
    ]


def _of_region(links: Connections, region: str, made: list[CrossCloudConnection]) -> Iterator[CrossCloudStatus]:
    owner, found, why = Owner(links.world.fleet.fleet, "", LINKS), dict[str, Mapping[str, Any]](), ""
    named = {owner.tags(one.name)["Name"]: one for one in made}
    live = [
        {"Name": "tag:Name", "Values": [*named]},
        {"Name": "state", "Values": ["pending", "available", "modifying"]},
    ]
    try:
        connections = links.of(region)("ec2").describe_vpn_connections(Filters=live)["VpnConnections"]
    except (ClientError, BotoCoreError) as error:
        connections, why = [], f"{region} can't be asked: {error}"
    for one in connections:
        states = {end["OutsideIpAddress"]: end for end in one.get("VgwTelemetry", ())}
        for end in one["Options"]["TunnelOptions"]:
            found[end["TunnelInsideCidr"]] = states.get(at := end["OutsideIpAddress"], {"OutsideIpAddress": at})
    for tunnel in (tunnel for one in made for tunnel in one.tunnels):
        if why:
            yield CrossCloudStatus(tunnel.name, tunnel.aws, tunnel.azure, "", UNKNOWN, trouble=why)
        elif tunnel.inside_cidr not in found:
            yield CrossCloudStatus(tunnel.name, tunnel.aws, tunnel.azure, "", NONE, trouble=f"run `{links.up}`")
        else:
            yield _status(links, tunnel, found[tunnel.inside_cidr])


def _status(links: Connections, one: Crossing, telemetry: Mapping[str, Any]) -> CrossCloudStatus:
    head = (one.name, one.aws, one.azure, str(telemetry["OutsideIpAddress"]))
    if "Status" not in telemetry:
        return CrossCloudStatus(*head, UNKNOWN, trouble=f"{one.aws} tells nothing of it yet")
    prefixes, since = int(telemetry.get("AcceptedRouteCount", 0)), telemetry.get("LastStatusChange")
    if telemetry["Status"] == "UP":
        return CrossCloudStatus(*head, UP, since, prefixes, "" if prefixes else NO_ROUTE)
    why = CAUSES.get(str(telemetry.get("StatusMessage", "")), CAUSES[SILENT]).format(up=links.up)
    return CrossCloudStatus(*head, DOWN, since, trouble=why)
