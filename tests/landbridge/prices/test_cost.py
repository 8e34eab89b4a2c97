"""What a fleet costs with pools at their min and max, by which prices, and how old these are."""

import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from fleet.loader import load
from fleet.model import Fleet
from fleet.price_book import PriceList, RegionPrices
from landbridge.output import Output
from landbridge.prices import age, cost
from landbridge.prices.bought import bought, types
from landbridge.up.blast_radius import Blast
from landbridge.up.report import Report

ROOT = Path(__file__).parents[3]
DAY = datetime.date(2026, 11, 30)


def day(days_old: int) -> datetime.date:
    return DAY - datetime.timedelta(days=days_old)


def prices(days_old: int = 1, **usd: float) -> PriceList:
    named = {name.replace("_", ".", 1): price for name, price in usd.items()}
    return PriceList(date=day(days_old), source="x", usd_per_hour=named)


WEST = prices(2, c7i_8xlarge=1.5, c7i_large=0.1, m7i_large=0.2, m7i_xlarge=0.4, p5_48xlarge=50.0)


@pytest.fixture(scope="module")
def example() -> Fleet:
    return load(ROOT / "fleet.yaml")


@pytest.fixture(scope="module")
def fleet(example: Fleet) -> Fleet:
    return example.with_prices({"us-west-2": RegionPrices(on_demand=WEST)})


def changed(fleet: Fleet, pool: str, **fields: Any) -> Fleet:
    config = fleet.pools[pool].model_copy(update=fields)
    return fleet.model_copy(update={"pools": {**fleet.pools, pool: config}})


def test_machines_are_those_of_pools_control_planes_and_laptops(example: Fleet) -> None:
    found = {one.what: one[1:5] for one in bought(example)}
    assert found == {
        "etcd of main": ("us-west-2", "m7i.large", 3, 3),
        "API servers of main": ("us-west-2", "m7i.xlarge", 2, 2),
        "laptops of us-west-2": ("us-west-2", "c7i.large", 2, 2),
        "west-gpu": ("us-west-2", "p5.48xlarge", 0, 40),
        "east-gpu": ("us-east-1", "p5.48xlarge", 0, 60),
        "eu-gpu": ("eu-west-1", "p5.48xlarge", 0, 200),
        "south-gpu": ("southcentralus", "Standard_ND96isr_H100_v5", 0, 100),
        "cpu": ("us-west-2", "c7i.8xlarge", 0, 50),
        "system": ("us-west-2", "m7i.large", 2, 4),
    }
    assert types(example)["eu-west-1"] == ["c7i.8xlarge", "c7i.large", "m7i.large", "m7i.xlarge", "p5.48xlarge"]
    assert types(example)["southcentralus"] == ["Standard_ND96isr_H100_v5"]


def test_a_cluster_in_azure_has_machines_of_azure(example: Fleet) -> None:
    main = example.clusters["main"].model_copy(update={"region": "southcentralus", "size": "large"})
    found = {one.what: one for one in bought(example.model_copy(update={"clusters": {"main": main}}))}
    assert found["etcd of main"].instance_type == "Standard_D16s_v5"
    assert found["API servers of main"].instance_type == "Standard_E32s_v5"


def test_both_ends_are_counted_and_what_has_no_price_is_named(fleet: Fleet) -> None:
    found = cost.of_fleet(fleet)
    always = 3 * 0.2 + 2 * 0.4 + 2 * 0.1
    assert found.least == pytest.approx(always + 2 * 0.2)
    assert found.most == pytest.approx(always + 4 * 0.2 + 40 * 50 + 60 * 55.04 + 50 * 1.5)
    assert found.unpriced == {"eu-west-1": ["p5.48xlarge"], "southcentralus": ["Standard_ND96isr_H100_v5"]}
    told = [str(one) for one in cost.lines(found, DAY)]
    assert told == [
        "Those of the fleet's machines whose price is known cost $2.00 an hour, $1,460 a month, with pools at their min; "
        "$5,379.80 an hour, $3,927,254 a month at their max.",
        "Prices are of 2026-07-20, 133 days old: `landbridge prices refresh` fetches today's.",
        "No price is known, and none counted, of eu-west-1: p5.48xlarge; southcentralus: Standard_ND96isr_H100_v5. "
        "`landbridge prices refresh` fetches them.",
    ]
    assert [one.style for one in cost.lines(found, DAY)] == ["", "yellow", "yellow"]
    assert found.as_json(DAY)["usd_per_month"] == {"least": 1460.0, "most": 3927254.0}
    assert found.as_json(DAY)["prices"] == {"oldest": "2026-07-20", "days_old": 133, "old": True}


def test_spares_stand_there_when_nobody_works(fleet: Fleet) -> None:
    assert cost.of_fleet(changed(fleet, "west-gpu", spares=2)).least == pytest.approx(102.0)
    assert cost.of_fleet(changed(fleet, "west-gpu", spares=2, min=3)).least == pytest.approx(152.0)


def test_a_spot_machine_costs_what_spot_machines_do_and_its_bid_at_most(example: Fleet) -> None:
    listed = RegionPrices(on_demand=WEST, spot=prices(5, p5_48xlarge=20.0))
    spot = changed(example.with_prices({"us-west-2": listed}), "west-gpu", spot=True)

    def of(fleet: Fleet) -> float:
        (pool,) = [one for one in bought(fleet) if one.what == "west-gpu"]
        found = cost.an_hour(fleet, pool)
        assert found
        return found.usd

    assert of(spot) == 20.0
    assert of(changed(spot, "west-gpu", max_price_per_hour=15.0)) == 15.0
    assert of(changed(spot, "west-gpu", max_price_per_hour=30.0)) == 20.0
    without = spot.with_prices({"us-west-2": RegionPrices(on_demand=WEST)})
    assert of(without) == 50.0, "nobody has fetched spot prices"
    assert of(changed(spot.with_prices({}), "west-gpu", max_price_per_hour=15.0)) == 15.0


@pytest.mark.parametrize(("days_old", "old"), [(0, False), (90, False), (91, True)])
def test_above_90_days_people_are_warned(days_old: int, old: bool) -> None:
    found = [age.Price(1.0, "x", day(0)), age.Price(1.0, "x", day(days_old)), None, age.Price(2.0, "the fleet file")]
    line = age.line(found, DAY)
    assert line
    assert (line.style == "yellow", "refresh" in str(line)) == (old, old)
    assert f"{days_old} days old" in str(line)
    assert (age.as_json(found, DAY) or {})["old"] is old


def test_prices_of_one_s_own_have_no_age() -> None:
    assert age.line([age.Price(2.0, "the fleet file"), None], DAY) is None
    assert age.as_json([], DAY) is None


def report(command: str, fleet: Fleet, *, as_json: bool = False) -> Report:
    run: Any = SimpleNamespace(
        world=SimpleNamespace(fleet=fleet, path=Path("fleet.yaml")),
        place=SimpleNamespace(world="local"),
        reports={},
        notes=[],
        pending=[],
        blast=Blast(),
        refusals=[],
        quotas=None,
        **dict.fromkeys(("interrupted", "failed", "changed"), False),
    )
    return Report(command, run, Output(Console(record=True, width=300), Console(stderr=True), as_json=as_json))


@pytest.mark.parametrize("command", ["up", "preview"])
def test_up_and_preview_say_what_the_fleet_costs_before_they_ask(command: str, fleet: Fleet) -> None:
    made = report(command, fleet)
    with made.confirming():
        shown = made.out.console.export_text()
        assert "$2.00 an hour, $1,460 a month, with pools at their min; $5,379.80 an hour" in shown
        assert "eu-west-1: p5.48xlarge" in shown
    assert made.document(0)["cost"]["usd_per_hour"] == {"least": 2.0, "most": 5379.8}


def test_a_preview_says_it_where_nothing_would_change(fleet: Fleet) -> None:
    made = report("preview", fleet)
    assert made.end() == 0
    assert made.out.console.export_text().count("$2.00 an hour, $1,460 a month") == 1


def test_programs_have_it_in_the_document_alone(fleet: Fleet) -> None:
    made = report("up", fleet, as_json=True)
    with made.confirming():
        assert made.out.console.export_text() == ""


def test_destroy_speaks_of_no_price(fleet: Fleet) -> None:
    made = report("destroy", fleet)
    with made.confirming():
        pass
    assert "$" not in made.out.console.export_text()
    assert "cost" not in made.document(0)
