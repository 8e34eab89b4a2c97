"""Where a run would go, and what it costs there."""

from landbridge.experiments.hosts import Hosts
from landbridge.experiments.offer import Offer, offer

from . import bed

PRICE = 55.04


def offered(hosts: int, team: str = "vision", ahead: int = 0, gpus: int = 8, **held: dict[str, int]) -> Offer:
    return offer(bed.spec(), bed.empty_room(**held), team, Hosts(hosts, gpus), ahead)


def test_the_site_comes_first_and_costs_nothing_more() -> None:
    found = offered(2)
    assert found.chosen
    assert (found.chosen.place, found.chosen.free, found.chosen.usd_an_hour, found.waits) == ("room", 32, 0.0, "")


def test_where_the_site_is_full_machines_are_bought() -> None:
    found = offered(2, robots={"room": 24})
    assert found.chosen
    assert (found.chosen.place, found.chosen.buys) == ("us-west-2", 2)
    # Nobody has said what a p5 costs in this region.
    assert found.chosen.usd_an_hour is None


def test_small_hosts_share_machines() -> None:
    found = offered(8, gpus=2)
    assert {one.place: one.buys for one in found.choices} == {"room": 0, "us-west-2": 2}


def test_where_no_place_has_room_it_waits_and_says_so() -> None:
    found = offered(2, robots={"room": 24, "us-west-2": 16})
    assert found.chosen
    assert (found.chosen.place, found.waits) == ("room", "no place has 16 GPUs free")


def test_a_team_that_holds_all_it_may_waits() -> None:
    found = offered(1, "robots", robots={"room": 16, "teams.landbridge.dev": 16})
    assert found.waits == "robots holds 16 GPUs of the 16 that it may hold"


def test_who_comes_later_waits_behind_those_before() -> None:
    assert offered(1, ahead=3).waits == "3 of vision's runs wait already"


def test_what_can_never_be_had_is_told_before_anything_is_created() -> None:
    assert offered(3, "robots").never.startswith("never: it asks for 24 GPUs, and robots may hold 16")
    assert offered(5).never == "never: it asks for 40 GPUs, and room, the largest place, has 32"
    assert offered(5).chosen is None
