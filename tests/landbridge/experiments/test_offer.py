"""Where a run would go, and what it costs there."""

import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from fleet.price_book import PriceList, RegionPrices
from landbridge.commands.run import show_offer
from landbridge.experiments.anywhere import Found
from landbridge.experiments.hosts import Hosts
from landbridge.experiments.offer import Offer, offer
from landbridge.output import Output

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


@pytest.mark.parametrize(("days_old", "warns"), [(3, False), (91, True)])
def test_the_age_of_its_prices_is_told_with_them(days_old: int, warns: bool) -> None:
    day = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=days_old)
    listed = PriceList(date=day, source="x", usd_per_hour={"p5.48xlarge": PRICE})
    fleet = bed.world().fleet.with_prices({"us-west-2": RegionPrices(on_demand=listed)})
    person = SimpleNamespace(world=SimpleNamespace(fleet=fleet), options="", cluster="main")
    prepared: Any = SimpleNamespace(launched=bed.launched(), offer=offered(2), person=person, remark="")
    out = Output(Console(), Console(record=True, width=200), as_json=False)
    show_offer(Found(prepared, {}), out)
    text = out.progress.export_text()
    assert f"Prices are of {day}, {days_old} days old" in text
    assert ("`landbridge prices refresh`" in text) is warns
