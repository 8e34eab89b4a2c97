"""How each link is, by what the clouds say of it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from components.links.plan import Peering, peerings, tunnels
from components.tags import Owner
from fleet.buckets import in_azure
from fleet.model import Fleet
from stacks.catalogue import LINKS

from .azure import status as of_azure
from .info import Connections

UP, DOWN, UNKNOWN, NONE = "up", "down", "not known", "not built"
# What AWS says beside a tunnel that is down → why that is, as far as AWS can tell, and what to do.
SILENT, AGREED = "IPSEC IS DOWN", "IPSEC IS UP"
# Ours, of a connection of Azure.
UNTOLD = "Azure tells nothing of its tunnels"
CAUSES = {
    SILENT: "the gateway has no keys agreed with this end. On the gateway: gateway_verify.py says whether it "
    "is installed and answers; UDP 500 and 4500 must pass to this address; key and proposal are those of "
    "`landbridge site gateway`",
    AGREED: "both ends have their keys, and BGP does not speak. On the gateway: `vtysh -c 'show bgp summary'`; "
    "TCP 179 must pass inside the tunnel, and the site's asn be that of fleet.yaml",
    UNTOLD: "Azure tells nothing of its tunnels, but that their connection has keys and hears no BGP by this one. On "
    "the gateway: gateway_verify.py says which of the two is missing",
}
OTHERWISE = "`aws ec2 describe-vpn-connections` and the tunnel's log have more"
NO_ROUTE = "it is up and the site tells it nothing: `vtysh -c 'show ip bgp'` on the gateway must have the site's block"


class Seen(NamedTuple):
    """A tunnel as the region's end sees it. `prefixes` are those that it took from the site.

    `cause` is what the gateway says is wrong, where that is known.
    """

    tunnel: str
    site: str
    region: str
    gateway: str
    address: str
    state: str
    message: str = ""
    since: datetime | None = None
    prefixes: int = 0
    cause: str = ""

    @property
    def trouble(self) -> str:
        """Why it carries nothing; empty if it does."""
        if self.cause:
            return f"the gateway says that {self.cause}"
        if self.state == UP:
            return "" if self.prefixes else NO_ROUTE
        return self.message if self.state in (UNKNOWN, NONE) else CAUSES.get(self.message, OTHERWISE)

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "trouble": self.trouble}


class SeenPeering(NamedTuple):
    """Two regions; `state` is the cloud's word, or that it is not known or not built."""

    here: str
    there: str
    state: str

    @property
    def up(self) -> bool:
        return self.state == "available"


def seen(links: Connections, site: str | None = None) -> list[Seen]:
    """Every tunnel that is planned, in the plan's order. A region that can't be asked stops no other one."""
    world = links.world
    told = {one.tunnel: one for region in world.fleet.regions for one in _of_region(links, region)}
    planned = [one for one in tunnels(world.fleet, world.plan) if site in (None, one.site)]
    return [
        told.get(one.name) or Seen(one.name, one.site, one.region, one.gateway, "", NONE, f"run `{links.up}`")
        for one in planned
    ]


def _of_region(links: Connections, region: str) -> Iterator[Seen]:
    mine = {str(one["id"]): one for one in links.found.values() if one["region"] == region}
    if not mine:
        return
    if in_azure(links.world.fleet, region):
        yield from _of_azure(links, region, mine)
        return
    try:
        found = links.of(region)("ec2").describe_vpn_connections(VpnConnectionIds=sorted(mine))["VpnConnections"]
    except (ClientError, BotoCoreError) as error:
        why = f"{region} can't be asked: {error}"
        for one in mine.values():
            yield from (_seen(name, one, at, {}, why) for name, at in one["hub_addresses"].items())
        return
    states = {one["VpnConnectionId"]: {t["OutsideIpAddress"]: t for t in one.get("VgwTelemetry", ())} for one in found}
    for id_, one in mine.items():
        for name, at in one["hub_addresses"].items():
            yield _seen(name, one, at, states.get(id_, {}).get(at, {}), f"{region} has no such connection any more")


def _of_azure(links: Connections, region: str, mine: Mapping[str, Mapping[str, Any]]) -> Iterator[Seen]:
    """Azure has a state of keys and one of BGP, which AWS tells as one with a message."""
    from azure.core.exceptions import AzureError

    fleet = links.world.fleet
    inside = {one.name: one for one in tunnels(fleet, links.world.plan) if one.region == region}
    for id_, one in mine.items():
        addresses = {name: at for name, at in one["hub_addresses"].items() if name in inside}
        told, why = dict[str, of_azure.Told](), f"{region} has no such tunnel any more"
        try:
            ends = {
                inside[name].hub_address: of_azure.Ends(at, inside[name].gateway_address)
                for name, at in addresses.items()
            }
            told = of_azure.tunnels(fleet, region, id_, ends)
        except AzureError as error:
            why = f"{region} can't be asked: {error}"
        for name, at in addresses.items():
            yield _told_by_azure(name, one, at, told.get(inside[name].hub_address), why)


def _told_by_azure(name: str, one: Mapping[str, Any], address: str, told: of_azure.Told | None, why: str) -> Seen:
    head = (name, str(one["site"]), str(one["region"]), str(one["gateway"]), address)
    if told is None:
        return Seen(*head, UNKNOWN, why)
    if told.keys and told.prefixes is not None:
        return Seen(*head, UP, "", prefixes=told.prefixes)
    if not told.keys:
        return Seen(*head, DOWN, SILENT)
    return Seen(*head, DOWN, AGREED if told.apart else UNTOLD)


def _seen(name: str, one: Mapping[str, Any], address: str, told: Mapping[str, Any], why: str) -> Seen:
    head = (name, str(one["site"]), str(one["region"]), str(one["gateway"]), address)
    if not told:
        return Seen(*head, UNKNOWN, why)
    state, message = UP if told["Status"] == "UP" else DOWN, str(told.get("StatusMessage", ""))
    return Seen(*head, state, message, told.get("LastStatusChange"), int(told.get("AcceptedRouteCount", 0)))


def seen_peerings(links: Connections) -> list[SeenPeering]:
    """Every one that is planned, by its tag Name."""
    world, states = links.world, dict[str, str]()
    states |= {_tag(world.fleet.fleet, one): state for one, state in _azure_peerings(world.fleet)}
    for region in dict.fromkeys(one.here for one in peerings(world.fleet) if not in_azure(world.fleet, one.here)):
        try:
            found = links.of(region)("ec2").describe_transit_gateway_peering_attachments()
        except (ClientError, BotoCoreError):
            asked = [one for one in peerings(world.fleet) if one.here == region]
            states |= {_tag(world.fleet.fleet, one): UNKNOWN for one in asked}
            continue
        for one in found["TransitGatewayPeeringAttachments"]:
            named = {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())}.get("Name", "")
            if states.get(named) != "available":
                states[named] = str(one["State"])
    return [
        SeenPeering(one.here, one.there, states.get(_tag(world.fleet.fleet, one), NONE))
        for one in peerings(world.fleet)
    ]


def _azure_peerings(fleet: Fleet) -> Iterator[tuple[Peering, str]]:
    from azure.core.exceptions import AzureError, ResourceNotFoundError

    for one in peerings(fleet):
        if in_azure(fleet, one.here):
            try:
                state = of_azure.peering(fleet, one.here, one.there)
                yield one, "available" if state == of_azure.CONNECTED else state.lower()
            except ResourceNotFoundError:
                yield one, NONE
            except AzureError:
                yield one, UNKNOWN


def _tag(fleet: str, peering: Peering) -> str:
    return Owner(fleet, "", LINKS).tags(f"{peering.here}-{peering.there}")["Name"]
