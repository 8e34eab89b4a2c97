"""A region's memory beside its cloud: what is asked while an answer is on its way, and what a failing cloud leaves."""

import contextlib
import threading
import time
from collections.abc import Collection
from typing import Any

import pytest

from services.autoscaler import group as groups
from services.autoscaler import provider_ids
from services.autoscaler.cloud import AnswerLostError, CloudError
from services.autoscaler.group import Failure, Machine, Observation
from services.autoscaler.region import ANYBODY, Caller, Region
from services.autoscaler.settings import Group as Told

NAME = "example-west-gpu-a"
TOLD = Told(
    name=NAME,
    pool="west-gpu",
    owner="research",
    region="us-west-2",
    least=0,
    most=40,
    gpus=8,
    price_usd=None,
    template={},
)


class Cloud:
    """Does what it is told at once, unless it is to `fail`; `meanwhile` runs while an answer is on its way."""

    def __init__(self) -> None:
        self.desired, self.machines, self.failed = 0, dict[str, str](), tuple[Failure, ...]()
        self.fail = ""
        self.meanwhile: Any = lambda: None
        self.clock, self.told = 100.0, list[Any]()

    def check(self, what: str, *about: Any) -> None:
        if what == self.fail:
            raise CloudError(f"us-west-2: {what}: out")
        self.told.append((what, *about))

    def groups(self) -> Any:
        self.check("groups")
        at = time.monotonic()
        machines = tuple(
            Machine(id_, provider_ids.aws("us-west-2a", id_), state) for id_, state in self.machines.items()
        )  # type: ignore[arg-type]
        seen = Observation(at, self.desired, machines)
        self.meanwhile()
        return {NAME: seen, "of-another-fleet": seen}, {}

    def failures(self, group: str) -> tuple[Failure, ...]:
        self.check("failures", group)
        return self.failed

    def resize(self, group: str, machines: int) -> None:
        self.check("resize", group, machines)
        self.desired = machines

    def size(self, _: str) -> int:
        return self.desired

    def end(self, _: str, ids: Collection[str]) -> dict[str, CloudError]:
        problems = {}
        for id_ in ids:
            try:
                self.check(f"end {id_}")
                self.machines.pop(id_, None)
                self.desired -= 1
            except CloudError as error:
                problems[id_] = error
        return problems


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = Cloud()

    def now() -> float:
        made.clock += 1
        return made.clock

    monkeypatch.setattr("services.autoscaler.region.time.time", now)
    return made


@pytest.fixture
def region(cloud: Cloud) -> Region:
    made = Region("us-west-2", [TOLD], cloud, threading.Lock())  # type: ignore[arg-type]
    made.look()
    return made


def grow(region: Region, cloud: Cloud, by: int) -> None:
    region.grow(NAME, lambda one: groups.grown(one, by, cloud.clock), ANYBODY)


def test_what_is_asked_for_while_an_answer_is_on_its_way_is_not_forgotten(region: Region, cloud: Cloud) -> None:
    """Else the autoscaler, which asks for the target a moment later, would buy it twice."""
    cloud.meanwhile = lambda: grow(region, cloud, 3)
    region.look()
    assert region.groups[NAME].target == 3
    cloud.meanwhile = lambda: None
    region.look()
    assert (region.groups[NAME].target, cloud.desired) == (3, 3)


def test_an_answer_from_amid_a_call_counts_for_no_size(
    region: Region, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was asked for after the call had begun, and before the cloud had taken it in."""
    looks, resize = [], cloud.resize

    def slow(group: str, machines: int) -> None:
        before = region.groups[NAME].machines
        cloud.machines = {"i-9": "running"}
        looks.append(threading.Thread(target=region.look))
        looks[0].start()
        while region.groups[NAME].machines == before:
            looks[0].join(0.01)
        assert region.groups[NAME].target == 3
        resize(group, machines)

    monkeypatch.setattr(cloud, "resize", slow)
    grow(region, cloud, 3)
    looks[0].join(10)
    assert region.groups[NAME].target == 3


def test_groups_of_others_are_none_of_ours(region: Region) -> None:
    assert list(region.groups) == [NAME]


def test_a_group_that_is_gone_is_forgotten(region: Region, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud, "groups", lambda: ({}, {}))
    region.look()
    assert region.groups == {}


def test_what_the_cloud_was_not_told_is_not_wanted(region: Region, cloud: Cloud) -> None:
    cloud.fail = "resize"
    with pytest.raises(CloudError, match="us-west-2: resize: out"):
        grow(region, cloud, 3)
    cloud.fail = ""
    assert region.groups[NAME].target == 0
    region.look()
    assert region.groups[NAME].target == 0


def test_a_refusal_makes_placeholders_once_and_is_told_until_the_cloud_has_heard(region: Region, cloud: Cloud) -> None:
    grow(region, cloud, 5)
    cloud.machines, cloud.failed = {"i-1": "running"}, (Failure(cloud.clock + 1, "insufficient capacity"),)
    cloud.fail = "resize"
    for _ in range(3):
        with pytest.raises(CloudError):
            region.look()
    one = region.groups[NAME]
    assert (cloud.desired, len(one.refused), one.target, one.owed) == (5, 4, 5, 0)
    cloud.fail = ""
    region.look()
    one = region.groups[NAME]
    assert (cloud.desired, len(one.refused), one.target) == (1, 4, 5)
    told = len(cloud.told)
    region.look()
    assert [what for what, *_ in cloud.told[told:]] == ["groups"], "nothing is owed: one call"


def test_a_failure_that_was_judged_is_no_reason_to_take_back_what_somebody_asks_for_later(
    region: Region, cloud: Cloud
) -> None:
    grow(region, cloud, 2)
    cloud.failed = (Failure(cloud.clock + 1, "insufficient capacity"),)
    region.look()
    region.groups[NAME] = groups.cleared(region.groups[NAME], [one.id for one in region.groups[NAME].refused])
    cloud.desired = 3
    region.look()
    assert (region.groups[NAME].owed, cloud.desired) == (3, 3)


def test_who_takes_over_holds_no_old_failure_against_what_is_owed(region: Region, cloud: Cloud) -> None:
    cloud.desired, cloud.failed = 40, (Failure(cloud.clock + 5, "insufficient capacity"),)
    cloud.clock += 5000
    region.take_over()
    region.look()
    assert (region.groups[NAME].owed, region.groups[NAME].refused, cloud.desired) == (40, (), 40)


def test_who_does_not_lead_any_more_takes_nothing_back(region: Region, cloud: Cloud) -> None:
    grow(region, cloud, 5)
    cloud.failed = (Failure(cloud.clock + 1, "insufficient capacity"),)
    region.look(leads=False)
    assert cloud.desired == 5
    region.look()
    assert cloud.desired == 0


def test_what_the_cloud_took_in_although_the_call_failed_is_taken_back(region: Region, cloud: Cloud) -> None:
    resize = cloud.resize

    def heard(group: str, machines: int) -> None:
        resize(group, machines)
        raise CloudError("timed out")

    cloud.resize = heard  # type: ignore[method-assign]
    with pytest.raises(CloudError):
        grow(region, cloud, 5)
    assert (cloud.desired, region.groups[NAME].target) == (5, 0)
    cloud.resize = resize  # type: ignore[method-assign]
    region.look()
    assert (cloud.desired, region.groups[NAME].target) == (0, 0)


@pytest.mark.parametrize(
    ("heard", "seconds", "alive", "asked"),
    [(True, 30, True, True), (False, 30, True, False), (True, 24, True, False), (True, 30, False, False)],
    ids=["heard", "not heard", "no time to find out", "the caller has gone meanwhile"],
)
def test_what_the_cloud_has_heard_although_its_answer_was_lost_is_asked_for(
    region: Region,
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    *,
    heard: bool,
    seconds: float,
    alive: bool,
    asked: bool,
) -> None:
    """Else the autoscaler would ask another region for as many."""
    began = time.monotonic()
    there = [True]

    def resize(_: str, machines: int) -> None:
        cloud.desired = machines if heard else 0
        there[0] = alive
        # So long did the call take to break.
        monkeypatch.setattr("services.autoscaler.region.time.monotonic", lambda: began + 20)
        raise AnswerLostError("us-west-2: closed")

    monkeypatch.setattr(cloud, "resize", resize)
    with contextlib.nullcontext() if asked else pytest.raises(CloudError):
        region.grow(
            NAME, lambda one: groups.grown(one, 3, cloud.clock), Caller(began + seconds - 0.5, lambda: there[0])
        )
    assert region.groups[NAME].target == (3 if asked else 0)
    assert region.groups[NAME].unsent is not asked


def test_nothing_is_changed_for_a_caller_who_has_gone(region: Region, cloud: Cloud) -> None:
    cloud.desired, cloud.machines = 1, {"i-1": "running"}
    region.look()
    for caller in (Caller(until=time.monotonic() + 5), Caller(alive=lambda: False)):
        with pytest.raises(CloudError, match="nothing was asked for"):
            region.end(NAME, ["i-1"], caller)
        with pytest.raises(CloudError, match="nothing was asked for"):
            region.grow(NAME, lambda one: groups.grown(one, 1, cloud.clock), caller)
    assert (list(cloud.machines), cloud.desired, region.groups[NAME].target) == (["i-1"], 1, 1)


def test_giving_up_what_has_not_come_always_works(region: Region, cloud: Cloud) -> None:
    """The autoscaler stops altogether where it does not."""
    cloud.machines = {"i-1": "running"}
    cloud.desired = 1
    region.look()
    grow(region, cloud, 4)
    cloud.fail = "resize"
    assert region.shrink(NAME, 9, ANYBODY) == 4, "more than is owed: as much as is"
    assert (region.groups[NAME].target, cloud.desired) == (1, 5)
    cloud.fail = ""
    region.look()
    assert (region.groups[NAME].target, cloud.desired) == (1, 1)
    assert region.shrink(NAME, 1, ANYBODY) == 0
    assert region.shrink(NAME, 1, Caller(alive=lambda: False)) == 0


def test_only_groups_that_are_short_cost_a_second_call(region: Region, cloud: Cloud) -> None:
    assert cloud.told == [("groups",)]
    grow(region, cloud, 1)
    region.look()
    assert ("failures", NAME) in cloud.told


def test_a_machine_that_does_not_go_lives_on_and_the_others_go(region: Region, cloud: Cloud) -> None:
    cloud.desired, cloud.machines = 3, {"i-1": "running", "i-2": "running", "i-3": "running"}
    region.look()
    cloud.fail = "end i-2"
    assert list(region.end(NAME, ["i-1", "i-2"], ANYBODY)) == ["i-2"]
    one = region.groups[NAME]
    assert ([machine.id for machine in one.live], one.target) == (["i-2", "i-3"], 2)
    region.look()
    assert region.groups[NAME].target == 2


def test_a_region_is_busy_while_something_comes_or_goes(region: Region, cloud: Cloud) -> None:
    assert not region.busy
    grow(region, cloud, 1)
    assert region.busy
    cloud.machines = {"i-1": "running"}
    region.look()
    assert not region.busy
    cloud.machines = {"i-1": "ending"}
    region.look()
    assert region.busy
