"""What Azure says of links: its connections' tunnels and what their BGP has heard, and its peerings.

How Azure writes a tunnel's name and a BGP peer's addresses is documented nowhere, and no real account was seen yet: so
peers are known by either address, and where nothing is told of tunnels the whole connection's state counts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.links import plan
from components.links.plan import Peering
from components.tags import Owner
from fleet.buckets import resource_group
from fleet.model import Fleet
from landbridge.clouds.azure.sign_in import credential
from stacks.catalogue import LINKS

from ..info import Connections
from ..tunnel_status import (
    AGREED,
    AVAILABLE,
    DOWN,
    NONE,
    SILENT,
    UNKNOWN,
    UNTOLD,
    UP,
    Published,
    States,
    TunnelStatus,
    whose,
)

CONNECTED = "Connected"


class TunnelHealth(NamedTuple):
    """A tunnel by Azure's word: `prefixes` are those that its instance took of the other end, None without BGP.

    `apart` is false where `keys` are by the state of the connection, whose tunnels are not told apart.
    """

    keys: bool
    prefixes: int | None
    apart: bool = True


class Ends(NamedTuple):
    """Of a tunnel: its instance's public address, and the other end's inside one."""

    public: str
    far: str


def tunnels(links: Connections, region: str, mine: Published) -> Iterator[TunnelStatus]:
    """Azure has a state of keys and one of BGP, which AWS tells as one with a message."""
    from azure.core.exceptions import AzureError

    fleet = links.world.fleet
    inside = {one.name: one for one in plan.tunnels(fleet, links.world.plan) if one.region == region}
    for id_, one in mine.items():
        addresses = {name: at for name, at in one["hub_addresses"].items() if name in inside}
        health, why = dict[str, TunnelHealth](), f"{region} has no such tunnel any more"
        try:
            ends = {inside[name].hub_address: Ends(at, inside[name].gateway_address) for name, at in addresses.items()}
            health = _tunnel_health(fleet, region, id_, ends)
        except AzureError as error:
            why = f"{region} can't be asked: {error}"
        for name, at in addresses.items():
            yield tunnel_status(name, one, at, health.get(inside[name].hub_address), why)


def _tunnel_health(fleet: Fleet, region: str, id_: str, ends: Mapping[str, Ends]) -> dict[str, TunnelHealth]:
    """Of a connection, by instances' inside addresses, as `ends` are.

    Raises AzureError.
    """
    # A second of imports that few runs need.
    from azure.mgmt.network import NetworkManagementClient

    assert fleet.azure is not None
    client = NetworkManagementClient(credential(), fleet.azure.subscription_id)
    group = resource_group(fleet, region)
    connection = client.virtual_network_gateway_connections.get(group, id_.rpartition("/")[2])
    hub = str(connection.virtual_network_gateway1.id).rpartition("/")[2]
    peers = client.virtual_network_gateways.begin_get_bgp_peer_status(group, hub).result().value or []
    states = connection.tunnel_connection_status or []
    return read(states, peers, ends, connection.connection_status or "")


def read(states: Sequence[Any], peers: Iterable[Any], ends: Mapping[str, Ends], whole: str) -> dict[str, TunnelHealth]:
    """`states` are TunnelConnectionHealth, whose names end in the instance's public address; `peers` BgpPeerStatus;
    `whole` is the connection's own status. Azure's own examples have no states where that is Connected.
    """
    by_address = {str(one.tunnel).rpartition("_")[2]: one.connection_status for one in states}
    heard: dict[str, int] = {}
    for one in peers:
        if one.state == CONNECTED:
            for address in (str(one.local_address), str(one.neighbor)):
                heard[address] = max(int(one.routes_received or 0), heard.get(address, 0))
    found = {}
    for inside, (public, far) in ends.items():
        status = by_address.get(public) if states else whole
        if status:
            prefixes = heard.get(far, heard.get(inside))
            found[inside] = TunnelHealth(status == CONNECTED, prefixes, apart=bool(states))
    return found


def tunnel_status(
    name: str, one: Mapping[str, Any], address: str, health: TunnelHealth | None, why: str
) -> TunnelStatus:
    """`one` is the tunnel's connection as it was published; `why` nothing is told of it."""
    head = whose(name, one, address)
    if health is None:
        return TunnelStatus(*head, UNKNOWN, why)
    if health.keys and health.prefixes is not None:
        return TunnelStatus(*head, UP, "", prefixes=health.prefixes)
    if not health.keys:
        return TunnelStatus(*head, DOWN, SILENT)
    return TunnelStatus(*head, DOWN, AGREED if health.apart else UNTOLD)


def peerings(links: Connections, planned: Collection[Peering]) -> States:
    from azure.core.exceptions import AzureError, ResourceNotFoundError

    states = dict[Peering, str]()
    for one in planned:
        try:
            state = _half(links.world.fleet, one)
            states[one] = AVAILABLE if state == CONNECTED else state.lower()
        except ResourceNotFoundError:
            states[one] = NONE
        except AzureError:
            states[one] = UNKNOWN
    return states


def _half(fleet: Fleet, peering: Peering) -> str:
    """State of the half of it that is `here`'s. Raises AzureError, also where there is none."""
    from azure.mgmt.network import NetworkManagementClient

    assert fleet.azure is not None
    client = NetworkManagementClient(credential(), fleet.azure.subscription_id)
    network = Owner(fleet.fleet, fleet.owner, peering.here).name("network", 64)
    name = Owner(fleet.fleet, fleet.owner, LINKS).name(peering.there, 80)
    return str(client.virtual_network_peerings.get(resource_group(fleet, peering.here), network, name).peering_state)
