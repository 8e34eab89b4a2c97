"""What Azure says of tunnels, read from its own SDK's models."""

from azure.mgmt.network.models import BgpPeerStatus, TunnelConnectionHealth

from landbridge.links import azure
from landbridge.links.azure import Told
from landbridge.links.seen import AGREED, DOWN, SILENT, UNKNOWN, UP, _told_by_azure

ADDRESSES = {"169.254.21.2": "198.51.100.1", "169.254.21.6": "198.51.100.2", "169.254.21.10": "198.51.100.3"}
ONE = {"site": "lab", "region": "westeurope", "gateway": "192.0.2.10"}


def health(address: str, status: str) -> TunnelConnectionHealth:
    """Azure alone fills these."""
    return TunnelConnectionHealth({"tunnel": f"example_links-1_{address}", "connectionStatus": status})


def peer(local: str, state: str, routes: int) -> BgpPeerStatus:
    return BgpPeerStatus({"localAddress": local, "neighbor": "169.254.21.1", "state": state, "routesReceived": routes})


def test_keys_and_bgp_of_each_instance_are_told_apart() -> None:
    states = [health("198.51.100.1", "Connected"), health("198.51.100.2", "Connected")]
    peers = [peer("169.254.21.2", "Connected", 1), peer("169.254.21.6", "Connecting", 0)]
    found = azure.read(states, peers, ADDRESSES)
    assert found == {"169.254.21.2": Told(True, 1), "169.254.21.6": Told(True, None)}
    states[0] = health("198.51.100.1", "NotConnected")
    assert azure.read(states, [], ADDRESSES)["169.254.21.2"] == Told(False, None)


def test_azure_s_words_come_to_those_of_aws() -> None:
    told = {Told(True, 1): (UP, ""), Told(True, None): (DOWN, AGREED), Told(False, None): (DOWN, SILENT)}
    for one, said in told.items():
        seen = _told_by_azure("lab/westeurope/1", ONE, "198.51.100.1", one, "")
        assert (seen.state, seen.message) == said
        assert bool(seen.trouble) is (one != Told(True, 1))
    assert _told_by_azure("lab/westeurope/1", ONE, "198.51.100.1", None, "gone").state == UNKNOWN
