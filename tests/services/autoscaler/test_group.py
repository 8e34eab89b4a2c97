"""What the autoscaler is told of a scaling group while machines come, are refused, come late and go."""

from typing import Any

import pytest

from services.autoscaler import group as groups
from services.autoscaler.group import Failure, Group, Machine, NotPossibleError, Observation

NO_CAPACITY = "We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested."
EMPTY = Group("example-west-gpu-a", 0)


def machines(*numbers: int, state: Any = "running") -> tuple[Machine, ...]:
    return tuple(Machine(f"i-{number}", f"aws:///us-west-2a/i-{number}", state) for number in numbers)


def seen(at: float, desired: int, *numbers: int, failed: float | None = None) -> Observation:
    failures = () if failed is None else (Failure(failed, NO_CAPACITY),)
    return Observation(at, desired, machines(*numbers), failures)


def asked(group: Group, by: int, now: float) -> Group:
    return groups.settled(groups.grown(group, by, now), now)


def test_what_is_asked_for_counts_at_once_and_is_asked_for_once() -> None:
    group = asked(EMPTY, 3, now=100)
    assert (group.desired, group.target, group.owed) == (3, 3, 3)
    group = groups.observed(group, seen(101, 3, 1))
    assert (group.target, group.owed) == (3, 2), "one has come"
    assert asked(group, 2, now=102).desired == 5


def test_an_answer_to_a_question_from_before_changes_no_size() -> None:
    """Else the autoscaler would take what it has just asked for as not asked for, and ask twice."""
    group = asked(groups.observed(EMPTY, seen(10, 1, 1)), 4, now=100)
    group = groups.observed(group, seen(99, 1, 1))
    assert (group.desired, group.target) == (5, 5)
    assert groups.observed(group, seen(101, 2, 1, 2)).desired == 2, "later ones do: somebody else has set it"


def test_refused_machines_stay_as_placeholders_and_the_cloud_is_to_stop_trying() -> None:
    group = asked(EMPTY, 5, now=100)
    group = groups.observed(group, seen(103, 5, 1, 2, failed=102))
    assert (group.desired, group.owed, len(group.refused), group.target) == (2, 0, 3, 5)
    assert {(one.kind.code, one.sentence) for one in group.refused} == {("capacity", NO_CAPACITY)}
    assert len({one.id for one in group.refused}) == 3
    again = groups.observed(group, seen(104, 2, 1, 2, failed=102))
    assert again == group._replace(unsent=False), "the same failure is not told twice"
    late = groups.observed(group, seen(104, 5, 1, 2, failed=102))
    assert (late.desired, len(late.refused), late.unsent) == (2, 3, True), "nor where the cloud has not heard yet"


def test_a_failure_from_before_the_asking_is_none_of_this_one() -> None:
    group = asked(EMPTY, 2, now=100)
    assert groups.observed(group, seen(101, 2, failed=90)).refused == ()
    assert groups.observed(group, seen(101, 2, failed=99)).refused != (), "clocks differ by a second or two"


def test_a_cleared_placeholder_is_gone_and_its_id_never_comes_again() -> None:
    group = groups.observed(asked(EMPTY, 2, now=100), seen(101, 2, failed=100))
    first = [one.id for one in group.refused]
    group = groups.cleared(group, first)
    assert (group.refused, group.target) == ((), 0)
    group = groups.observed(asked(group, 2, now=200), seen(201, 2, failed=200))
    assert not {one.id for one in group.refused} & set(first)


def test_a_machine_that_comes_after_its_refusal_takes_its_placeholder_s_place() -> None:
    group = groups.observed(asked(EMPTY, 2, now=100), seen(101, 2, failed=100))
    group = groups.observed(group._replace(requested_at=101.5), seen(102, 0, 7))
    assert (len(group.live), len(group.refused), group.target) == (1, 1, 2)


def test_a_pool_that_always_has_machines_is_not_asked_for_fewer() -> None:
    least = EMPTY._replace(least=2)
    group = groups.observed(asked(least._replace(desired=2), 2, now=100), seen(101, 4, 1, failed=101))
    assert (group.desired, len(group.refused), group.owed) == (2, 2, 1), "the cloud goes on for its least"


def test_bounds() -> None:
    with pytest.raises(NotPossibleError, match="can't grow by 0"):
        asked(EMPTY, 0, now=1)
    full = groups.observed(EMPTY, seen(1, 1, 1))
    assert groups.without_owed(full, 1) is full
    assert groups.without_owed(full._replace(desired=3, least=2), 9).desired == 2
    with pytest.raises(NotPossibleError, match="it would have 0, and has 1 at least"):
        groups.ended(full._replace(least=1), ["i-1"])
    assert groups.without_owed(full._replace(desired=3), 2).desired == 1


def test_a_machine_that_was_told_to_end_does_not_live_again() -> None:
    group = groups.observed(EMPTY, seen(1, 2, 1, 2))
    group = groups.ended(group, ["i-1", "i-9"])
    assert ([machine.id for machine in group.live], group.target) == (["i-2"], 1)
    group = groups.observed(group, seen(9, 2, 1, 2))
    assert [machine.id for machine in group.live] == ["i-2"], "the answer is older than the order"
    assert groups.observed(group, Observation(11, 1, machines(2))).target == 1
