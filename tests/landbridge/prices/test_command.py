"""`landbridge prices` and `prices refresh`, with lists of a web server, and EC2's spot prices of another."""

import datetime
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fleet import price_book
from landbridge.commands import landbridge
from landbridge.errors import UsageError
from tests.support import s3

from .bed import Answer, Web, csv_list, csv_row, item

ROOT = Path(__file__).parents[3]
H100 = "Standard_ND96isr_H100_v5"
TYPES = {"c7i.8xlarge": 1.5, "c7i.large": 0.1, "m7i.large": 0.2, "m7i.xlarge": 0.4, "p5.48xlarge": 50.0}
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")


@pytest.fixture(scope="module")
def ec2() -> Iterator[str]:
    with s3.serving() as url:
        yield url


@pytest.fixture
def fleet(tmp_path: Path, lists: Web, ec2: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for region in REGIONS:
        lists.aws(region, csv_list(*(csv_row(kind, usd) for kind, usd in TYPES.items())))
    lists.items = [item(H100, 98.32), item(H100, 30.5, "Spot"), item(H100, 120.0, productName="ND Series Windows")]
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", ec2)
    for name, value in s3.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANDBRIDGE_AWS_PRICES", lists.url)
    monkeypatch.setenv("LANDBRIDGE_AZURE_PRICES", f"{lists.url}/")
    return tmp_path / "fleet.yaml"


def told(fleet: Path, *words: str) -> Result:
    found = CliRunner().invoke(landbridge, ["prices", *words, "--fleet", str(fleet)], standalone_mode=False)
    if found.exception:
        raise found.exception
    return found


def test_all_regions_get_prices_of_today(fleet: Path) -> None:
    found = told(fleet, "refresh")
    assert found.return_value == 0
    assert "us-east-1: prices: 5 on demand" in found.stdout
    assert "southcentralus: prices: 1 on demand, 1 spot" in found.stdout
    assert "fleet.prices.yaml is written: commit it." in found.stdout
    book = price_book.load(fleet.with_name("fleet.prices.yaml"))
    assert [*book] == sorted([*REGIONS, "southcentralus"])
    today = datetime.datetime.now(datetime.UTC).date()
    for region in REGIONS:
        on_demand, spot = book[region].on_demand, book[region].spot
        assert on_demand
        assert (on_demand.usd_per_hour, on_demand.date) == (TYPES, today)
        assert on_demand.source.endswith(f"/{region}/index.csv (published 2026-11-27)")
        assert spot
        assert spot.usd_per_hour["c7i.large"] == 0.00001, "as that EC2 has all prices"
    south = book["southcentralus"]
    assert south.on_demand
    assert south.spot
    assert (south.on_demand.usd_per_hour, south.spot.usd_per_hour) == ({H100: 98.32}, {H100: 30.5})

    shown = told(fleet)
    assert "133 d" not in shown.stdout
    assert "No price is known" not in shown.stdout
    assert "The fleet's machines cost $2.00 an hour" in shown.stdout
    document = json.loads(told(fleet, "--json").stdout)
    (one,) = [row for row in document["prices"] if row["region"] == "southcentralus"]
    assert one["of"] == ["south-gpu"]
    assert one["on_demand"] == {
        "usd_per_hour": 98.32,
        "date": str(today),
        "days_old": 0,
        "source": south.on_demand.source,
    }
    assert document["cost"]["unpriced"] == {}


def test_who_does_not_answer_keeps_its_prices_and_is_named(fleet: Path, lists: Web) -> None:
    assert told(fleet, "refresh").return_value == 0
    file = fleet.with_name("fleet.prices.yaml")
    file.write_text(file.read_text().replace("50\n", "49\n"))
    before = price_book.load(file)
    lists.aws("eu-west-1", Answer(503, b""))
    lists.aws("us-east-1", csv_list(csv_row("p5.48xlarge", 48.0)))
    found = told(fleet, "refresh", "--region", "eu-west-1", "--region", "us-east-1")
    assert found.return_value == 1
    assert "Not fetched, on demand: 127.0.0.1" in found.stdout
    assert "does not answer (too many 503 error responses)" in found.stdout
    assert "p5.48xlarge on demand: $49.0000, now $48.0000" in found.stdout
    assert "Not sold there, by its list: c7i.8xlarge, c7i.large, m7i.large, m7i.xlarge." in found.stdout
    after = price_book.load(file)
    assert after["eu-west-1"].on_demand == before["eu-west-1"].on_demand
    assert after["us-east-1"].on_demand
    assert after["us-east-1"].on_demand.usd_per_hour == {"p5.48xlarge": 48.0}
    assert after["us-west-2"] == before["us-west-2"]


def test_where_nothing_answers_nothing_is_written(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANDBRIDGE_AWS_PRICES", "LANDBRIDGE_AZURE_PRICES", "AWS_ENDPOINT_URL_EC2"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    found = told(fleet, "refresh", "--json")
    assert found.return_value == 1
    document = json.loads(found.stdout)
    for one in document["regions"]:
        assert {*one["not_fetched"]} == {"on_demand", "spot"}
        assert one["not_fetched"]["on_demand"] == "127.0.0.1:9 does not answer (Connection refused)"
    assert sorted(path.name for path in fleet.parent.iterdir()) == ["fleet.lock.yaml", "fleet.yaml"]


def test_without_a_sign_in_to_aws_only_spot_prices_are_missing(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    found = told(fleet, "refresh", "--region", "us-east-1")
    assert found.return_value == 0
    assert "Not fetched, spot: nobody is signed in to AWS, which EC2's spot prices need." in found.stdout
    assert price_book.load(fleet.with_name("fleet.prices.yaml"))["us-east-1"].spot is None


def test_a_fleet_that_needs_the_price_gets_it_and_is_told_what_no_longer_fits(fleet: Path) -> None:
    text = fleet.read_text()
    fleet.write_text(text.replace("max: 200, priority: 10", "max: 200, priority: 10, max_price_per_hour: 45"))
    found = told(fleet, "refresh", "--region", "eu-west-1")
    assert found.return_value == 0
    assert "pool eu-gpu may pay 45 dollars an hour, and a p5.48xlarge costs 50 in eu-west-1" in found.stdout


def test_a_region_that_is_not_there_is_refused(fleet: Path) -> None:
    with pytest.raises(Exception, match=r"fleet\.yaml: there is no region mars\. Known: us-west-2, "):
        told(fleet, "refresh", "--region", "mars")


@pytest.mark.parametrize("address", ["https://ann:secret@prices.example.com", "prices.example.com", "file:///x"])
def test_an_address_with_a_password_is_refused(fleet: Path, address: str) -> None:
    with pytest.raises(UsageError, match=r"^An address of price lists is such as https://prices\.azure\.com: "):
        told(fleet, "refresh", "--azure-url", address)


def test_a_look_at_prices_or_shapes_speaks_to_no_cloud() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from landbridge.commands import landbridge;"
        "[print(CliRunner().invoke(landbridge, [what, '--fleet', "
        f"{str(ROOT / 'fleet.yaml')!r}]).stdout) for what in ('prices', 'shapes')];"
        "sys.exit(bool({'boto3', 'botocore', 'urllib3', 'pulumi', 'azure.core'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "us-east-1" in done.stdout
    assert "Shapes are of" in done.stdout
