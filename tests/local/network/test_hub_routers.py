"""What a VPN gateway makes of the prefixes that its tunnels tell it."""

from types import SimpleNamespace
from typing import Any

from local.network import hub_routers
from local.network.routers import Route, short_name

GATEWAY = {"id": "vpn", "networks": ["vnet"]}
OWN, FAR = "10.1.0.0/16", "10.2.0.0/16"


def tunnel(name: str) -> Any:
    return SimpleNamespace(name=name, interface=short_name("t", name), at=lambda end: end == "vpn")


def test_a_shorter_path_goes_first_and_equal_ones_together() -> None:
    heard: Any = {("a", "vpn"): {FAR: (1,)}, ("b", "vpn"): {FAR: (2,)}, ("c", "vpn"): {FAR: (3, 1)}}
    routes = hub_routers.vpn_gateway(GATEWAY, {"vnet": [OWN]}, [tunnel(name) for name in "abc"], heard).routes
    assert routes == {
        Route(FAR, tuple(sorted((short_name("t", "a"), short_name("t", "b"))))),
        Route(OWN, (short_name("v", "vnet"),)),
    }


def test_a_network_s_own_prefix_leads_to_it_whatever_a_tunnel_tells() -> None:
    heard: Any = {("a", "vpn"): {OWN: (1,)}}
    routes = hub_routers.vpn_gateway(GATEWAY, {"vnet": [OWN]}, [tunnel("a")], heard).routes
    assert routes == {Route(OWN, (short_name("v", "vnet"),))}
