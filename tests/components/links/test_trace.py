"""What the plan lets pass, by the data that is built from: every pair that it joins, and no other."""

from collections.abc import Callable
from ipaddress import IPv4Network
from itertools import permutations
from typing import Any

import pytest

from components.links import trace as module
from components.links.gateway.spec import gateway_specs
from components.links.hub_routes import HubRoute, hub_routes
from components.links.trace import NoPlaceError, Paths, Place, Port, unreachable
from components.network.hub_tables import INWARD, OUTWARD
from components.network.ports import MATRIX
from fleet.model import Site

from .bed import AZURE, planned

ATTIC = Site(gateways=["192.0.2.20", "192.0.2.21"], asn=65020)
REGIONS, SITES = ("us-west-2", "us-east-1", "eu-west-1"), ("lab", "attic")


@pytest.fixture
def paths() -> Paths:
    return Paths(*planned(attic=ATTIC))


@pytest.mark.parametrize(("one", "other"), [*permutations(REGIONS, 2), *((r, s) for r in REGIONS for s in SITES)])
def test_regions_reach_each_other_and_every_site_both_ways(paths: Paths, one: str, other: str) -> None:
    for source, target in ((one, other), (other, one)):
        way = paths.way(paths.place(source), paths.place(target))
        assert way.arrives, way.hops


@pytest.mark.parametrize("place", [*REGIONS, *SITES])
def test_a_laptop_reaches_what_is_pushed_to_it_and_answers_come_back(paths: Paths, place: str) -> None:
    laptop = paths.place("10.132.64.5")
    there, back = paths.way(laptop, paths.place(place)), paths.way(paths.place(place), laptop)
    assert (there.arrives, back.arrives) == (True, True), (there.hops, back.hops)
    assert there.hops[0].at == back.hops[-1].at == "server vpn-1 of us-west-2"


def test_what_is_not_pushed_a_laptop_does_not_reach(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    laptop = paths.place("10.132.64.5")
    monkeypatch.setitem(paths.laptops, "us-west-2", paths.laptops["us-west-2"]._replace(reached=()))
    way = paths.way(laptop, paths.place("lab"))
    assert (way.arrives, way.hops[-1].why) == (False, f"nothing is pushed for {way.target.address}")


def test_no_site_reaches_another(paths: Paths) -> None:
    way = paths.way(paths.place("lab"), paths.place("attic"))
    assert not way.arrives
    assert "no tunnel leads to" in way.hops[-1].why


def test_each_gateway_of_a_pair_lets_pass(paths: Paths) -> None:
    way = paths.way(paths.place("us-west-2"), paths.place("attic"))
    assert [hop.at for hop in way.hops if hop.at.startswith("gateway")] == ["gateway 192.0.2.20", "gateway 192.0.2.21"]
    assert "us-west-2-attic-1 and us-west-2-attic-2" in next(hop.why for hop in way.hops if "BGP" in hop.why)


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        ("10.133.0.9", "10.133.9.9", "both are in the site"),
        ("us-east-1", "10.133.9.9", "10.133.9.9 is not in 10.133.0.0/21"),
        ("10.132.70.5", "lab", "no subnet has 10.132.70.5"),
        ("10.132.64.5", "10.132.65.5", "10.132.65.5 is a laptop: none reaches another one"),
        ("us-east-1", "10.132.200.1", "no subnet has 10.132.200.1"),
    ],
)
def test_where_nothing_is_nothing_arrives(source: str, target: str, why: str) -> None:
    paths = Paths(*planned())
    way = paths.way(paths.place(source), paths.place(target))
    assert way.hops[-1].why == why


def test_a_port_passes_where_a_security_group_has_it(paths: Paths) -> None:
    lab, west = paths.place("lab"), paths.place("us-west-2")
    assert paths.way(lab, west, Port("tcp", 2049)).arrives
    assert not paths.way(lab, west, Port("tcp", 22)).arrives
    assert not paths.way(lab, west, Port("udp", 2049)).arrives


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mars", "mars is neither an address nor one of us-west-2, us-east-1, eu-west-1, lab"),
        ("192.0.2.77", "192.0.2.77 is nobody: no machine"),
        ("10.128.0.1", "10.128.0.1 is of cluster/main/pods"),
    ],
)
def test_what_is_no_place_is_refused(text: str, why: str) -> None:
    with pytest.raises(NoPlaceError, match=why):
        Paths(*planned()).place(text)


def test_every_row_of_the_port_matrix_can_be_used() -> None:
    fleet, plan = planned(attic=ATTIC)
    assert MATRIX
    for region in fleet.regions:
        assert unreachable(fleet, plan, region) == []


def without(table: str, via: str) -> Callable[..., list[HubRoute]]:
    return lambda fleet, plan, region: [
        one for one in hub_routes(fleet, plan, region) if not (one.table == table and via in one.via)
    ]


@pytest.mark.parametrize(
    ("name", "broken", "lost"),
    [
        ("hub_routes", without(INWARD, "network"), "hub us-west-2, table inward: no route"),
        ("hub_routes", without(OUTWARD, "eu-west-1"), "table outward: no route"),
        ("hub_routes", without(OUTWARD, "lab"), "hub us-west-2, table outward: no route to 10.133."),
        (
            "gateway_specs",
            lambda *told: [one._replace(ends=()) for one in gateway_specs(*told)],
            "gateway 192.0.2.10: no tunnel",
        ),
    ],
)
def test_a_hole_anywhere_on_the_way_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: Any, lost: str
) -> None:
    fleet, plan = planned()
    monkeypatch.setattr(module, name, broken)
    found = unreachable(fleet, plan, "us-west-2")
    assert any(lost in one for one in found), found
    assert all(" to " in one for one in found)


@pytest.fixture(scope="module")
def clouds() -> Paths:
    return Paths(*planned(AZURE, "southcentralus", attic=ATTIC))


@pytest.mark.parametrize("source", ["us-west-2", "southcentralus", "lab", "attic"])
def test_azure_is_in_reach_of_every_place_and_reaches_it(clouds: Paths, source: str) -> None:
    one, other = clouds.place(source), clouds.place(AZURE)
    for way in (clouds.way(one, other, Port("tcp", 2049)), clouds.way(other, one)):
        assert way.arrives, way.hops
    assert not clouds.way(one, other, Port("tcp", 22)).arrives


@pytest.mark.parametrize(
    ("source", "hop"),
    [
        ("us-west-2", "on the tunnels with westeurope"),
        ("southcentralus", "leads to the peering with westeurope"),
        ("lab", "is believed on westeurope-1 and westeurope-2"),
    ],
)
def test_each_way_to_azure_is_its_own(clouds: Paths, source: str, hop: str) -> None:
    way = clouds.way(clouds.place(source), clouds.place(AZURE))
    assert [one.why for one in way.hops if hop in one.why]


def test_what_azure_s_network_has_not_is_not_reached(clouds: Paths) -> None:
    """AWS's hub knows the network alone, and not the whole block."""
    block = clouds.plan.region(AZURE).block
    beyond = Place("region", AZURE, str(IPv4Network(block)[-2]))
    assert not clouds.way(clouds.place("us-west-2"), beyond).arrives
    assert not clouds.way(clouds.place("southcentralus"), beyond).arrives
    assert not clouds.way(clouds.place("lab"), beyond).arrives
    assert not clouds.way(beyond, clouds.place("lab")).arrives


def test_every_row_of_the_port_matrix_can_be_used_in_azure() -> None:
    fleet, plan = planned(AZURE, attic=ATTIC)
    assert unreachable(fleet, plan, AZURE) == unreachable(fleet, plan, "us-west-2") == []
