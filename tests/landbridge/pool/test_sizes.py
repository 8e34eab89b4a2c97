"""Where a pool's new machines stand, and which go: by numbers alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.pool.aws.scaling import failure
from landbridge.pool.sizes import Group, Machine, aim, leaving

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def group(name: str, live: int, desired: int | None = None, *, least: int = 0, most: int = 40, why: str = "") -> Group:
    machines = tuple(Machine(f"i-{name}{number}", f"us-west-2{name}", "InService") for number in range(live))
    return Group(name, least, most, live if desired is None else desired, machines, why)


def test_machines_are_spread_evenly_over_what_stands() -> None:
    assert aim([group("a", 2), group("b", 0), group("c", 1)], 6).desired == {"a": 2, "b": 2, "c": 2}
    assert aim([group("a", 5), group("b", 0)], 6).desired == {"a": 5, "b": 1}


def test_a_zone_that_just_failed_is_asked_last_and_what_it_owes_of_the_others() -> None:
    failing = group("a", 1, 3, why="no capacity")
    assert aim([failing, group("b", 0), group("c", 0)], 5).desired == {"a": 1, "b": 2, "c": 2}
    assert aim([failing, group("b", 0, most=1)], 5).desired == {"a": 4, "b": 1}
    both = [group("a", 0, why="no"), group("b", 0, why="no")]
    assert aim(both, 4).desired == {"a": 2, "b": 2}


def test_what_is_on_its_way_stays_asked_where_it_is() -> None:
    assert aim([group("a", 0, 3), group("b", 0)], 3).desired == {"a": 3, "b": 0}
    assert aim([group("a", 0, 3), group("b", 0)], 4).desired == {"a": 3, "b": 1}
    assert aim([group("a", 0, 3), group("b", 0)], 2) == ({"a": 2, "b": 0}, 0), "orders are taken back, nobody goes"


def test_fewer_than_live_means_that_machines_leave_and_no_desired_falls_below_them() -> None:
    assert aim([group("a", 2, 4), group("b", 2)], 1) == ({"a": 2, "b": 2}, 3)
    assert aim([group("a", 2, least=1), group("b", 0, 1, least=1)], 2) == ({"a": 2, "b": 1}, 1)


def test_more_than_the_groups_take_is_refused() -> None:
    with pytest.raises(ValueError, match="take 4 machines"):
        aim([group("a", 0, most=2), group("b", 0, most=2)], 5)


GROUPS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2), st.booleans()), min_size=1, max_size=5
).map(
    lambda told: [
        group("abcde"[n], live, max(live, least, desired), least=least, why="no" if fails else "")
        for n, (live, desired, least, fails) in enumerate(told)
    ]
)


@given(GROUPS, st.integers(0, 40))
def test_every_aim_is_the_number_and_ends_no_machine(groups: list[Group], number: int) -> None:
    found = aim(groups, number)
    assert sum(found.desired.values()) - found.leave == number
    assert all(found.desired[one.name] >= max(len(one.live), one.least) for one in groups)
    assert all(found.desired[one.name] <= one.most for one in groups)
    if not any(one.failure for one in groups) and sum(one.desired for one in groups) == number:
        assert found.desired == {one.name: one.desired for one in groups}, "an even spread is no reason to move"


def launched(groups: list[Group]) -> dict[str, datetime]:
    """The later in the list, the newer."""
    names = [one.name for made in groups for one in made.live]
    return {name: NOW + timedelta(minutes=number) for number, name in enumerate(names)}


def test_the_newest_idle_machines_go_and_each_zone_keeps_its_least() -> None:
    groups = [group("a", 3, least=1), group("b", 2, least=1)]
    ages = launched(groups)
    assert [one.name for one in leaving(groups, ages, (), 2)] == ["i-b1", "i-a2"]
    assert [one.name for one in leaving(groups, ages, {"i-b1", "i-a2"}, 2)] == ["i-b0", "i-a1"]
    assert [one.name for one in leaving(groups, ages, (), 9)] == ["i-b1", "i-a2", "i-a1"]


def test_who_is_on_its_way_out_counts_no_more() -> None:
    going = group("a", 2)
    going = going._replace(machines=(going.machines[0], going.machines[1]._replace(state="Terminating:Wait")))
    assert aim([going], 1) == ({"a": 1}, 0)
    assert [one.name for one in leaving([going], launched([going]), (), 2)] == ["i-a0"]


@pytest.mark.parametrize(("minutes", "owed", "expected"), [(1, False, "full"), (60, False, ""), (60, True, "full")])
def test_a_failure_counts_while_it_is_new_or_machines_are_owed(minutes: int, owed: bool, expected: str) -> None:
    then = NOW - timedelta(minutes=minutes)
    failed = {"StatusCode": "Failed", "StatusMessage": "full", "StartTime": then, "EndTime": then}
    assert failure([failed], NOW, owed=owed) == expected
    assert failure([{**failed, "StatusCode": "Successful"}, failed], NOW, owed=owed) == ""
