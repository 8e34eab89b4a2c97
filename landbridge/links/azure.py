"""What Azure says of links: its connections' tunnels, what their BGP has heard, and the keys in its vaults."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.model import Fleet
from stacks.catalogue import LINKS

CONNECTED = "Connected"


class Told(NamedTuple):
    """A tunnel by Azure's word: `prefixes` are those that its instance took of the other end, None without BGP."""

    keys: bool
    prefixes: int | None


def tunnels(fleet: Fleet, region: str, id_: str, addresses: Mapping[str, str]) -> dict[str, Told]:
    """Of a connection, by instances' inside addresses. `addresses` are their public ones by those.

    Raises AzureError.
    """
    # A second of imports that few runs need.
    from azure.identity import DefaultAzureCredential
    from azure.mgmt.network import NetworkManagementClient

    assert fleet.azure is not None
    client = NetworkManagementClient(DefaultAzureCredential(), fleet.azure.subscription_id)
    group = resource_group(fleet, region)
    connection = client.virtual_network_gateway_connections.get(group, id_.rpartition("/")[2])
    hub = str(connection.virtual_network_gateway1.id).rpartition("/")[2]
    peers = client.virtual_network_gateways.begin_get_bgp_peer_status(group, hub).result().value or []
    return read(connection.tunnel_connection_status or [], peers, addresses)


def read(states: Iterable[Any], peers: Iterable[Any], addresses: Mapping[str, str]) -> dict[str, Told]:
    """`states` are TunnelConnectionHealth, whose names end in the instance's public address; `peers` BgpPeerStatus."""
    by_address = {str(one.tunnel).rpartition("_")[2]: one for one in states}
    heard = {str(one.local_address): int(one.routes_received or 0) for one in peers if one.state == CONNECTED}
    found = {}
    for inside, public in addresses.items():
        if (one := by_address.get(public)) is not None:
            found[inside] = Told(one.connection_status == CONNECTED, heard.get(inside))
    return found


def kept(fleet: Fleet, region: str, name: str) -> dict[str, str]:
    """The keys of a secret in the region's vault, by tunnels' names. Raises AzureError."""
    from azure.identity import DefaultAzureCredential
    from azure.keyvault.secrets import SecretClient

    client = SecretClient(f"https://{vault_name(fleet, region)}.vault.azure.net", DefaultAzureCredential())
    found: dict[str, str] = json.loads(client.get_secret(name).value or "{}")
    return found


def peering(fleet: Fleet, here: str, there: str) -> str:
    """State of the half of a peering of two networks that is `here`'s. Raises AzureError, also where there is none."""
    from azure.identity import DefaultAzureCredential
    from azure.mgmt.network import NetworkManagementClient

    assert fleet.azure is not None
    client = NetworkManagementClient(DefaultAzureCredential(), fleet.azure.subscription_id)
    network = Owner(fleet.fleet, fleet.owner, here).name("network", 64)
    name = Owner(fleet.fleet, fleet.owner, LINKS).name(there, 80)
    return str(client.virtual_network_peerings.get(resource_group(fleet, here), network, name).peering_state)
