"""Routers and wires from a world as the local AWS tells it: hubs' tables, tunnels, peerings, and what has no way."""

import copy
from typing import Any

from local.network.plan import Plan, Site, plan
from local.network.routers import CLOUD, MAIN, METADATA, Route, short_name

LAB = Site("lab", "10.9.0.0/20", "10.9.0.0/21", ("192.0.2.10",))
WEST, EAST, LINK = "10.1.0.0/18", "10.2.0.0/18", "vpn-1"
NUMBERS = {"tgw-west": 64512, "tgw-east": 64513}


def network(name: str, cidr: str, hub: str, *to: str) -> dict[str, Any]:
    routes = [{"cidr": one, "hub": hub} for one in to]
    subnet = {"cidr": cidr.replace("/18", "/22"), "routes": routes}
    return {"id": name, "cidrs": [cidr], "subnets": [subnet], "interfaces": [], "endpoints": [], "groups": {}}


def hub(name: str, own: str, vpc: str, other: str, far: str, ends: tuple[str, ...] = ()) -> dict[str, Any]:
    """As our stacks make one: what leaves the network is looked up in `outward`, all else in `inward`."""
    attachments = [
        {"id": f"{name}-net", "kind": "vpc", "to": vpc, "table": "outward"},
        {"id": "peering", "kind": "peering", "to": other, "table": "inward"},
        *({"id": f"at-{end}", "kind": "vpn", "to": end, "table": "inward"} for end in ends),
    ]
    outward = {"routes": [{"cidr": far, "attachments": ["peering"]}], "learns": [f"at-{end}" for end in ends]}
    inward = {"routes": [{"cidr": own, "attachments": [f"{name}-net"]}], "learns": []}
    tables = {"outward": outward, "inward": inward}
    return {"id": name, "asn": NUMBERS[name], "attachments": attachments, "tables": tables}


WORLD: dict[str, Any] = {
    **dict.fromkeys(("machines", "vnets", "gateways"), ()),
    "networks": [
        network("vpc-west", WEST, "tgw-west", "10.2.0.0/16", LAB.block),
        network("vpc-east", EAST, "tgw-east", "10.1.0.0/16"),
    ],
    "hubs": [
        hub("tgw-west", "10.1.0.0/16", "vpc-west", "tgw-east", "10.2.0.0/16", (LINK,)),
        hub("tgw-east", "10.2.0.0/16", "vpc-east", "tgw-west", "10.1.0.0/16"),
    ],
    "connections": [
        {
            "id": LINK,
            "hub": "tgw-west",
            "device": "192.0.2.10",
            "tunnels": [{"outside": f"203.0.113.{n}", "asked": None} for n in (1, 2)],
        }
    ],
}
TUNNELS = tuple(sorted(short_name("t", f"203.0.113.{n}") for n in (1, 2)))


def changed(**tunnels: bool | None) -> dict[str, Any]:
    world = copy.deepcopy(WORLD)
    for tunnel, asked in zip(world["connections"][0]["tunnels"], tunnels.values(), strict=True):
        tunnel["asked"] = asked
    return world


def ways(made: Plan, router: str, cidr: str) -> set[tuple[str, ...]]:
    return {route.interfaces for route in made.routers[router].routes if route.cidr == cidr}


def test_a_site_and_its_region_reach_each_other_by_both_tunnels() -> None:
    made = plan(WORLD, [LAB])
    assert ways(made, LAB.router, "10.1.0.0/16") == {TUNNELS}
    assert ways(made, "tgw-west", LAB.block) == {TUNNELS}
    assert made.tunnels == {"203.0.113.1": 1, "203.0.113.2": 1}
    # A region's tunnels are a way to that region alone, and a far hub knows no site.
    assert ways(made, LAB.router, "10.2.0.0/16") == set()
    assert ways(made, "tgw-east", LAB.block) == set()


def test_a_tunnel_that_is_down_is_no_way_and_both_are_none() -> None:
    one = plan(changed(first=False, second=None), [LAB])
    assert ways(one, LAB.router, "10.1.0.0/16") == {TUNNELS_LEFT}
    assert one.tunnels == {"203.0.113.1": None, "203.0.113.2": 1}
    none = plan(changed(first=False, second=False), [LAB])
    assert ways(none, LAB.router, "10.1.0.0/16") == ways(none, "tgw-west", LAB.block) == set()
    assert not [wire for wire in none.wires if wire.here_interface in TUNNELS]


TUNNELS_LEFT = (short_name("t", "203.0.113.2"),)


def test_without_a_gateway_at_the_other_end_a_tunnel_is_down() -> None:
    made = plan(WORLD, [LAB._replace(gateways=("192.0.2.99",))])
    assert made.tunnels == {"203.0.113.1": None, "203.0.113.2": None}
    assert plan(WORLD, []).tunnels == made.tunnels


def test_regions_meet_by_one_wire_and_each_table_is_asked_for_what_is_its_own() -> None:
    made = plan(WORLD, [])
    peering = short_name("p", "peering")
    assert len([wire for wire in made.wires if peering in (wire.here_interface, wire.there_interface)]) == 1
    west = made.routers["tgw-west"]
    tables = {rule.of: rule.table for rule in west.rules}
    outward, inward = tables[f"iif {short_name('a', 'tgw-west-net')}"], tables[f"iif {peering}"]
    assert Route("10.2.0.0/16", (peering,), outward) in west.routes
    assert Route("10.1.0.0/16", (short_name("a", "tgw-west-net"),), inward) in west.routes
    assert {route.table for route in west.routes} == {outward, inward}


def test_an_attachment_of_no_table_leads_nowhere() -> None:
    world = copy.deepcopy(WORLD)
    world["hubs"][0]["attachments"][0]["table"] = None
    assert f"iif {short_name('a', 'tgw-west-net')}" not in {
        rule.of for rule in plan(world, []).routers["tgw-west"].rules
    }


def test_a_network_s_own_prefix_never_leaves_it_and_a_balancer_s_answer_leaves_by_its_network() -> None:
    made = plan(WORLD, [LAB])
    assert Route(WEST) in made.routers["vpc-west"].routes
    assert str(Route(WEST)) == f"unreachable {WEST} table {MAIN}"
    assert Route(f"{METADATA}/32", ("cloud",)) in made.routers["vpc-west"].routes
    assert {rule.of for rule in made.routers[CLOUD].rules} == {f"from {WEST}", f"from {EAST}"}
