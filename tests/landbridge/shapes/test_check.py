"""What a cloud offers against what a fleet wants, and how old what one goes by is."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet import shape_book
from fleet.loader import load
from fleet.model import Fleet
from fleet.shape_book import BookShape, RegionShapes
from fleet.shapes import shipped
from landbridge.commands import landbridge
from landbridge.prices.bought import Bought, bought
from landbridge.shapes import check
from landbridge.shapes.asked import Answers
from landbridge.shapes.offer import Offer
from landbridge.up.report import old_shapes

ROOT = Path(__file__).parents[3]
NEW = BookShape(cpus=96, memory_gib=1536, gpus=8, gpu="b300", family="p", zones=("a", "b", "c"))


@pytest.fixture(scope="module")
def example() -> Fleet:
    return load(ROOT / "fleet.yaml")


def west(fleet: Fleet) -> Bought:
    (found,) = [one for one in bought(fleet) if one.what == "west-gpu"]
    return found


def wrong(fleet: Fleet, offer: Offer, **changed: Any) -> list[str]:
    one = west(fleet)._replace(**changed)
    answers = Answers({one.region: {one.instance_type: offer}}, {})
    return [found.what for found in check.wrong(fleet, [one], answers)]


def offer(**changed: Any) -> Offer:
    known = shipped("p5.48xlarge")
    assert known
    return Offer(known.shape.model_copy(update={"zones": ("a", "b", "c")}))._replace(**changed)


def test_what_is_offered_as_it_is_wanted_is_right(example: Fleet) -> None:
    assert wrong(example, offer()) == []


@pytest.mark.parametrize(
    ("of", "spot", "words"),
    [
        (offer(ways=("on demand",)), True, "in us-west-2 spot, and AWS does not sell it so"),
        (offer(ways=("spot",)), False, "in us-west-2 on demand, and AWS does not sell it so"),
        (offer(unfit="its processors are arm64"), False, "west-gpu needs p5.48xlarge in us-west-2, and its processors"),
    ],
)
def test_each_other_way_is_told(example: Fleet, of: Offer, spot: bool, words: str) -> None:
    (found,) = wrong(example, of, spot=spot)
    assert words in found


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cpus", 96, "has 192 vCPUs to the tables that come with Landbridge, and 96 to AWS"),
        ("memory_gib", 1024.0, "has 2048.0 GiB of memory"),
        ("efa", 16, "has 32 cards with EFA"),
    ],
)
def test_numbers_that_all_is_reckoned_with_are_compared(example: Fleet, name: str, value: float, words: str) -> None:
    (found,) = wrong(example, offer(shape=offer().shape.model_copy(update={name: value})))
    assert words in found


def test_a_region_that_has_not_answered_is_no_mistake(example: Fleet) -> None:
    assert [*check.wrong(example, bought(example), Answers({}, {"us-west-2": "no answer"}))] == []


def test_shapes_that_are_old_are_told_as_old(tmp_path: Path) -> None:
    """The same bound, and the same words, as with prices."""
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    file = tmp_path / "fleet.yaml"
    file.write_text(
        file.read_text().replace(
            "instance_type: p5.48xlarge, gpus: 8, max: 40", "instance_type: p7.24xlarge, gpus: 8, max: 40"
        )
    )
    today = datetime.datetime.now(datetime.UTC).date()
    for days, old in ((90, False), (91, True)):
        date = today - datetime.timedelta(days)
        listed = RegionShapes(date=date, source="ec2", types={"p7.24xlarge": NEW})
        shape_book.write(tmp_path / "fleet.shapes.yaml", {"us-west-2": listed})
        line = f"Shapes are of {date}, {days} days old" + (
            ": `landbridge shapes refresh` fetches today's." if old else "."
        )
        found = CliRunner().invoke(landbridge, ["shapes", "--fleet", str(file)], standalone_mode=False)
        assert line in found.stdout
        assert [str(one) for one in old_shapes(load(file))] == ([line] if old else []), "what `up` says"


def test_nobody_signed_in_is_told_with_what_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    words = ["shapes", "refresh", "--region", "us-east-1", "--fleet", str(tmp_path / "fleet.yaml")]
    found = CliRunner().invoke(landbridge, words, standalone_mode=False)
    assert found.return_value == 1
    told = " ".join(found.stdout.split())
    assert "Not fetched: nobody is signed in to AWS, which ec2:DescribeInstanceTypes and" in told
    assert not (tmp_path / "fleet.shapes.yaml").exists()
