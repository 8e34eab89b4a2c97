"""What scale-down saved, reckoned by hand: of machines that are there, and of those that the recorder saw go."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.pools.labels import POOL
from fleet.loader import load
from fleet.model import Fleet
from landbridge.commands.usage import saved, saved_table
from landbridge.usage.account import account
from landbridge.usage.scale_down import NODE, Gone, Machine, Saved, of_nodes, scale_down
from landbridge.why.records import Gap
from landbridge.why.report import ended
from tests.landbridge.why.recorded import BEGUN, Recorded, at

ROOT = Path(__file__).parents[3]
HOUR, DAY = 3600.0, 86_400.0
PRICE = 55.04  # of a p5.48xlarge, by AWS's list


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(ROOT / "fleet.yaml")


def machine(name: str, begun: float, until: float, pool: str = "east-gpu") -> Machine:
    return Machine(name, pool, begun * HOUR, until * HOUR)


def test_a_fixed_fleet_of_the_most_machines_would_have_cost_the_rest(fleet: Fleet) -> None:
    # Of 24 hours: one machine all the time, from before; two more for 4 hours; a last one comes as they go.
    machines = [machine("a", -9, 24), machine("b", 2, 6), machine("c", 2, 6), machine("d", 6, 8)]
    made = scale_down(machines, fleet, 0.0, DAY)
    # 3 x 24 = 72 hours, less 24 + 4 + 4 + 2 = 34.
    assert made.pools == [Saved("east-gpu", 3, 34.0, 38.0, 304.0, round(38 * PRICE, 2))]
    assert (made.hours, made.machine_hours, made.gpu_hours, made.dollars) == (24.0, 38.0, 304.0, 2091.52)


def test_what_never_went_saved_nothing_and_sites_and_strangers_have_no_scale(fleet: Fleet) -> None:
    machines = [
        machine("a", 0, 24, "system"),
        machine("b", 0, 24, "system"),
        machine("host", 0, 1, "site-gpu"),
        machine("old", 0, 1, "a-pool-of-before"),
        machine("server", 0, 1, ""),
        machine("before", -2, -1),
    ]
    assert [(one.name, one.most, one.saved_machine_hours) for one in scale_down(machines, fleet, 0.0, DAY).pools] == [
        ("system", 2, 0.0)
    ]


def test_a_pool_without_a_price_has_hours_alone(fleet: Fleet) -> None:
    (row,) = scale_down([machine("a", 0, 6, "eu-gpu")], fleet, 0.0, DAY).pools
    assert (row.saved_machine_hours, row.saved_gpu_hours, row.saved_dollars) == (18.0, 144.0, None)
    # Prices go first, whichever saved more hours.
    both = scale_down([machine("a", 0, 6, "eu-gpu"), machine("b", 0, 20)], fleet, 0.0, DAY)
    assert [one.name for one in both.pools] == ["east-gpu", "eu-gpu"]


def test_of_what_nobody_watched_nothing_is_claimed(fleet: Fleet) -> None:
    gap = Gap(*(datetime.fromtimestamp(hour * HOUR, UTC) for hour in (4, 14)), why="the recorder was away")
    # A second machine in the gap alone is no more than one at a time.
    made = scale_down([machine("a", 0, 6), machine("b", 5, 9)], fleet, 0.0, DAY, [gap])
    # 14 hours are known; of these it held 4.
    assert made.hours == 14.0
    assert [(one.most, one.machine_hours, one.saved_machine_hours) for one in made.pools] == [(1, 4.0, 10.0)]


def node(name: str, begun: float) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": at(begun), "labels": {POOL: "west-gpu"}}
    }


def test_machines_that_went_are_those_whose_nodes_the_recorder_saw_go(fleet: Fleet) -> None:
    made = Recorded()
    made.node("gpu-1")
    made.node("gpu-2")
    made.ended("train-0", 7, HOUR)
    made.gone("train-0", HOUR + 10)
    made.write(HOUR + 60)
    made.now = BEGUN + 2 * HOUR
    made.node("gpu-1", "DELETED")
    made.write(2 * HOUR + 60)
    went, records = Gone(), made.records()
    assert [one.title for one in ended(records, lambda day: went.hear(records.about(NODE, [day])))] == [
        "team-vision/train-0"
    ]
    assert [*went.machines()] == [Machine("uid-gpu-1", "west-gpu", BEGUN, BEGUN + 2 * HOUR)]
    # gpu-2 is there still: 2 machines for 10 hours, less 2 + 10.
    there = of_nodes([node("gpu-2", 0)], BEGUN + 10 * HOUR)
    (row,) = scale_down([*went.machines(), *there], fleet, BEGUN, BEGUN + 10 * HOUR).pools
    assert (row.name, row.most, row.machine_hours, row.saved_machine_hours) == ("west-gpu", 2, 12.0, 8.0)


def test_it_is_told_to_people_and_to_machines(fleet: Fleet) -> None:
    made = scale_down([machine("a", 0, 6), machine("b", 0, 6, "cpu")], fleet, 0.0, DAY)
    assert saved(made) == (
        "Saved by scale-down: 36.0 machine hours, 991 US dollars, against the most machines of each pool held for all of "
        "24.0 hours."
    )
    heads = [str(one.header) for one in saved_table(made.pools).columns]
    assert heads == ["scale-down", "most machines", "machine hours", "saved", "GPU hours saved", "US dollars saved"]
    told = account([], 0.0, DAY, {}, {})._replace(scale_down=made).as_json()["scale_down"]
    assert (told["saved_machine_hours"], told["saved_dollars"]) == (36.0, 990.72)
    assert told["pools"][0]["saved_gpu_hours"] == 144.0
    assert account([], 0.0, DAY, {}, {}).as_json()["scale_down"] is None
