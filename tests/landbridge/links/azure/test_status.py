"""What Azure says of tunnels, read from its own SDK's models."""

from azure.mgmt.network.models import BgpPeerStatus, TunnelConnectionHealth

from landbridge.links.azure import status as azure
from landbridge.links.azure.status import Ends, TunnelHealth
from landbridge.links.tunnel_status import AGREED, DOWN, SILENT, UNKNOWN, UNTOLD, UP

ENDS = {
    "169.254.21.2": Ends("198.51.100.1", "169.254.21.1"),
    "169.254.21.6": Ends("198.51.100.2", "169.254.21.5"),
    "169.254.21.10": Ends("198.51.100.3", "169.254.21.9"),
}
ONE = {"site": "lab", "region": "westeurope", "gateway": "192.0.2.10"}


def health(address: str, status: str) -> TunnelConnectionHealth:
    """Azure alone fills these."""
    return TunnelConnectionHealth({"tunnel": f"example_links-1_{address}", "connectionStatus": status})


def peer(local: str, far: str, state: str, routes: int) -> BgpPeerStatus:
    return BgpPeerStatus({"localAddress": local, "neighbor": far, "state": state, "routesReceived": routes})


def test_keys_and_bgp_of_each_instance_are_told_apart() -> None:
    states = [health("198.51.100.1", "Connected"), health("198.51.100.2", "Connected")]
    peers = [
        peer("169.254.21.2", "169.254.21.1", "Connected", 1),
        peer("169.254.21.6", "169.254.21.5", "Connecting", 0),
    ]
    found = azure.read(states, peers, ENDS, "Connected")
    assert found == {"169.254.21.2": TunnelHealth(True, 1), "169.254.21.6": TunnelHealth(True, None)}
    states[0] = health("198.51.100.1", "NotConnected")
    assert azure.read(states, [], ENDS, "Connected")["169.254.21.2"] == TunnelHealth(False, None)


def test_a_peer_is_known_by_the_other_end_s_address_too() -> None:
    """Azure may name the address in its gateway's subnet for its own."""
    states = [health("198.51.100.1", "Connected"), health("198.51.100.2", "Connected")]
    peers = [peer("10.1.255.4", "169.254.21.1", "Connected", 2), peer("10.1.255.5", "169.254.21.5", "Connected", 1)]
    found = azure.read(states, peers, ENDS, "Connected")
    assert [found[inside].prefixes for inside in ("169.254.21.2", "169.254.21.6")] == [2, 1]


def test_where_azure_tells_nothing_of_tunnels_their_connection_s_state_counts() -> None:
    peers = [peer("10.1.255.4", "169.254.21.1", "Connected", 2)]
    found = azure.read([], peers, ENDS, "Connected")
    assert found["169.254.21.2"] == TunnelHealth(True, 2, apart=False)
    assert found["169.254.21.6"] == TunnelHealth(True, None, apart=False)
    assert azure.read([], [], ENDS, "Connecting")["169.254.21.2"].keys is False
    assert azure.read([], [], ENDS, "") == {}


def test_azure_s_words_come_to_those_of_aws() -> None:
    told = {
        TunnelHealth(True, 1): (UP, ""),
        TunnelHealth(True, None): (DOWN, AGREED),
        TunnelHealth(False, None): (DOWN, SILENT),
    }
    told |= {TunnelHealth(True, 1, apart=False): (UP, ""), TunnelHealth(True, None, apart=False): (DOWN, UNTOLD)}
    for one, said in told.items():
        seen = azure.tunnel_status("lab/westeurope/1", ONE, "198.51.100.1", one, "")
        assert (seen.state, seen.message) == said
        assert bool(seen.trouble) is (one.prefixes is None)
    assert azure.tunnel_status("lab/westeurope/1", ONE, "198.51.100.1", None, "gone").state == UNKNOWN
