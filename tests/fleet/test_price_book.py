"""fleet.prices.yaml: written and read, and which price counts of the file's own, the book's and those that are shipped."""

import datetime
from pathlib import Path

import pytest

from fleet import price_book, prices
from fleet.aws import prices as aws_prices
from fleet.errors import FleetError
from fleet.loader import load, load_with_lines
from fleet.model import Fleet
from fleet.price_book import Book, PriceList, RegionPrices

from .test_purse import changed

ROOT = Path(__file__).parents[2]
DAY = datetime.date(2026, 11, 30)
EARLIER = datetime.date(2026, 1, 1)


def listed(date: datetime.date = DAY, **usd: float) -> PriceList:
    named = {name.replace("_", ".", 1): price for name, price in usd.items()}
    return PriceList(date=date, source="https://example.com/index.csv (published 2026-11-27)", usd_per_hour=named)


BOOK: Book = {
    "us-west-2": RegionPrices(
        on_demand=listed(p5_48xlarge=49.5, m7i_large=0.1008), spot=listed(EARLIER, p5_48xlarge=21.3)
    ),
    "eu-west-1": RegionPrices(spot=listed()),
}


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(ROOT / "fleet.yaml").with_prices(BOOK)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "fleet.prices.yaml"
    assert price_book.load(file) == {}
    price_book.write(file, BOOK)
    assert price_book.load(file) == BOOK
    assert file.read_text().count("\n      p5.48xlarge: ") == 2
    assert [one.name for one in tmp_path.iterdir()] == [file.name]


def test_a_price_is_the_file_s_own_or_the_newest_of_the_lists(fleet: Fleet) -> None:
    assert prices.listed(fleet, "us-west-2", "p5.48xlarge") == prices.Price(49.5, listed().source, DAY)
    assert prices.price(changed(fleet, prices={"p5.48xlarge": 41.5}), "us-west-2", "p5.48xlarge") == 41.5
    assert prices.listed(changed(fleet, prices={"p5.48xlarge": 41.5}), "us-west-2", "p5.48xlarge").date is None
    shipped = prices.Price(55.04, aws_prices.SOURCE, aws_prices.DATE)
    assert prices.listed(fleet, "us-east-1", "p5.48xlarge") == shipped
    newer = fleet.with_prices({"us-east-1": RegionPrices(on_demand=listed(p5_48xlarge=50.0))})
    assert prices.price(newer, "us-east-1", "p5.48xlarge") == 50.0
    older = fleet.with_prices({"us-east-1": RegionPrices(on_demand=listed(EARLIER, p5_48xlarge=60.0))})
    assert prices.listed(older, "us-east-1", "p5.48xlarge") == shipped


def test_spot_prices_are_apart(fleet: Fleet) -> None:
    assert prices.listed(fleet, "us-west-2", "p5.48xlarge", "spot") == prices.Price(21.3, listed().source, EARLIER)
    assert prices.listed(fleet, "us-west-2", "m7i.large", "spot") is None
    assert prices.listed(fleet, "us-east-1", "p5.48xlarge", "spot") is None, "nobody ships spot prices"
    assert prices.price(fleet, "eu-west-1", "p5.48xlarge") is None
    # Caps count what it costs at most.
    assert prices.machine(changed(fleet, {"spot": True}), "west-gpu") == 49.5


def test_the_loader_takes_the_book_beside_the_file_and_rules_go_by_it(tmp_path: Path) -> None:
    text = (ROOT / "tests/fleet/bad/rules/pool-price-unknown.yaml").read_text()
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    with pytest.raises(FleetError, match=r"Fetch it with `landbridge prices refresh`, or say it: regions\.us-west-2"):
        load(file)
    assert load_with_lines(file, fetched=False).fleet.pools["west"].max_price_per_hour == 60
    price_book.write(tmp_path / "fleet.prices.yaml", BOOK)
    assert load(file).price_book == BOOK
    price_book.write(tmp_path / "fleet.prices.yaml", {"us-west-2": RegionPrices(on_demand=listed(p5_48xlarge=60.5))})
    with pytest.raises(FleetError, match=r"fleet\.yaml:13: pool west may pay 60 dollars an hour, and .* costs 60\.5"):
        load(file)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("us-west-2:\n  on_demand: {date: 2026-11-30, source: x, usd_per_hour: {m7i.large: 0}}\n", "greater than 0"),
        ("us-west-2:\n  on_demand: {source: x, usd_per_hour: {}}\n", "us-west-2.on_demand.date: Field required"),
        ("<<<<<<< HEAD\nus-west-2: {}\n", "not valid YAML"),
    ],
)
def test_a_damaged_book_is_told_with_its_name(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text((ROOT / "fleet.yaml").read_text())
    (tmp_path / "fleet.prices.yaml").write_text(text)
    with pytest.raises(FleetError, match=r"^fleet\.prices\.yaml:\d: ") as refused:
        load(tmp_path / "fleet.yaml")
    assert what in str(refused.value)
