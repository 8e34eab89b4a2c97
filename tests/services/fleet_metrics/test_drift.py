"""What the last look at drift found, by what lies in a bucket."""

from datetime import UTC, datetime

from landbridge.status import left
from services.fleet_metrics import drift
from services.fleet_metrics.metrics import Look
from services.fleet_metrics.settings import Drift

MAIN = Drift("us-west-2", "s3://b", "drift/main/")


def at(day: int) -> datetime:
    return datetime(2026, 11, day, 2, 30, tzinfo=UTC)


def looks(*keys: str) -> dict[tuple[str, ...], Look]:
    return drift.looks(lambda prefix: [one for one in keys if one.startswith(prefix)], MAIN)


def test_the_last_look_at_each_stack_counts_whatever_others_found() -> None:
    keys = [left.key("main", "eu-west-1", count, at(day)) for day, count in ((30, 0), (29, 12), (28, 9))]
    assert looks(left.key("main", "main-addons", 1, at(28)), *keys) == {
        ("eu-west-1",): Look(at(30).timestamp(), 0),
        ("main-addons",): Look(at(28).timestamp(), 1),
    }


def test_what_no_look_of_this_cluster_left_is_not_told() -> None:
    name = left.key("main", "links", 1, at(30))
    assert looks(left.key("south", "links", 1, at(30)), f"{name}.bak", "drift/main/x", name.replace("-1.", "-x.")) == {}
