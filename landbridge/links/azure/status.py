"""What Azure says of links: its connections' tunnels, what their BGP has heard, and the keys in its vaults.

How Azure writes a tunnel's name and a BGP peer's addresses is documented nowhere, and no real account was seen yet: so
peers are known by either address, and where nothing is told of tunnels the whole connection's state counts.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.model import Fleet
from landbridge.clouds.azure.sign_in import credential
from stacks.catalogue import LINKS

CONNECTED = "Connected"


class Told(NamedTuple):
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


def tunnels(fleet: Fleet, region: str, id_: str, ends: Mapping[str, Ends]) -> dict[str, Told]:
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


def read(states: Sequence[Any], peers: Iterable[Any], ends: Mapping[str, Ends], whole: str) -> dict[str, Told]:
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
            found[inside] = Told(status == CONNECTED, prefixes, apart=bool(states))
    return found


def kept(fleet: Fleet, region: str, name: str) -> dict[str, str]:
    """The keys of a secret in the region's vault, by tunnels' names. Raises AzureError."""
    from azure.keyvault.secrets import SecretClient

    client = SecretClient(f"https://{vault_name(fleet, region)}.vault.azure.net", credential())
    found: dict[str, str] = json.loads(client.get_secret(name).value or "{}")
    return found


def peering(fleet: Fleet, here: str, there: str) -> str:
    """State of the half of a peering of two networks that is `here`'s. Raises AzureError, also where there is none."""
    from azure.mgmt.network import NetworkManagementClient

    assert fleet.azure is not None
    client = NetworkManagementClient(credential(), fleet.azure.subscription_id)
    network = Owner(fleet.fleet, fleet.owner, here).name("network", 64)
    name = Owner(fleet.fleet, fleet.owner, LINKS).name(there, 80)
    return str(client.virtual_network_peerings.get(resource_group(fleet, here), network, name).peering_state)
