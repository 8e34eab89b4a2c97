"""What a roll does next, by what machines and their work are like: numbers and names alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.pool.images import Wanted
from landbridge.pool.roll import How, Outcome, question
from landbridge.pool.roll_plan import State, broken, late, most_away, out_of_sight, owed, refused, step
from landbridge.pool.roll_timers import Waits
from landbridge.pool.sizes import Group, Machine

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OLD = ("image",)


def old(name: str, hours: int = 1, **given: object) -> State:
    """Launched so many hours ago."""
    return State(name, "g", NOW - timedelta(hours=hours), behind=OLD)._replace(**given)  # type: ignore[arg-type]


def new(name: str, **given: object) -> State:
    return State(name, "g", NOW)._replace(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("machines", "fraction", "most"), [(0, 0.1, 1), (3, 0.1, 1), (19, 0.1, 1), (20, 0.1, 2), (30, 0.1, 3), (4, 1.0, 4)]
)
def test_a_part_of_the_pool_may_be_away_and_one_at_least(machines: int, fraction: float, most: int) -> None:
    assert most_away(machines, fraction) == most


def test_what_ails_goes_first_then_the_oldest_and_the_others_wait_for_their_turn() -> None:
    states = [old("a", 2), old("b", 3), old("c", 1, ready=False), old("d", 5, work=("n/p",)), new("e")]
    first = step(states, 0, 2, NOW)
    assert (first.end, first.evict, first.wait) == (("c", "b"), (), ("d", "a"))
    assert not first.over


def test_nobody_goes_while_as_many_come() -> None:
    for coming in (new("n", joined=False), new("n", ready=False), new("n", starting=True), new("n", life="Pending")):
        assert step([old("a"), coming], 0, 1, NOW).end == ()
        assert step([old("a"), coming], 0, 2, NOW).end == ("a",)
    assert step([old("a")], 1, 1, NOW).end == (), "the cloud owes one"
    assert step([old("a"), old("p", life="Pending:Wait")], 0, 1, NOW).end == ()
    assert step([old("a"), old("p", life="Standby")], 0, 1, NOW)[:4] == (("a",), (), 0, ("p",)), (
        "people see to that one"
    )


def test_work_is_left_alone_until_its_deadline_and_what_may_move_is_not_waited_for() -> None:
    hour = timedelta(hours=1)
    busy, due = old("busy", work=("n/p",), until=NOW + hour), old("due", work=("n/p",), until=NOW)
    moves = old("moves", movable=("n/m",))
    assert step([busy], 0, 1, NOW) == ((), (), 1, ("busy",), {}, 0)
    assert step([busy], 0, 1, NOW).idle
    assert step([busy, due, moves], 0, 2, NOW)[:4] == ((), ("moves", "due"), 2, ("busy",))
    assert step([due._replace(ready=False)], 0, 1, NOW).evict == (), "nobody hears that its pods have ended"
    assert step([due, old("idle")], 0, 1, NOW)[:3] == (("idle",), (), 0), "who has no work is no trouble to anybody"


def test_a_machine_whose_draining_has_begun_is_away() -> None:
    begun, due = (old(name, work=("n/p",), until=NOW) for name in ("begun", "due"))
    leaves = begun._replace(draining=True)
    assert step([leaves, due, old("idle")], 0, 1, NOW)[:4] == ((), ("begun",), 1, ("due", "idle"))
    assert step([leaves, due, old("idle")], 0, 2, NOW)[:3] == (("idle",), ("begun",), 1)
    mine = leaves._replace(until=NOW + timedelta(hours=1))
    assert step([mine, old("idle")], 0, 1, NOW).end == ("idle",), "its owner's pod ends by itself: that is no draining"


def test_what_the_autoscaler_is_about_to_end_is_left_to_it() -> None:
    assert step([old("a", claimed=True)], 0, 1, NOW)[:4] == ((), (), 1, ("a",))


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()), max_size=30), st.integers(1, 5))
def test_never_more_are_away_than_may_be(kinds: list[tuple[bool, bool, bool, bool]], most: int) -> None:
    states = [
        State(
            f"i-{n}", "g", NOW, behind=OLD if older else (), ready=ready, work=("n/p",) if busy else (), until=NOW
        )._replace(draining=draining)
        for n, (older, ready, busy, draining) in enumerate(kinds)
    ]
    found = step(states, 0, most, NOW)
    assert len(found.end) + found.room + len(found.coming) <= max(most, len(found.coming))
    assert not set(found.end) & {state.name for state in states if state.work or not state.behind}
    older = {state.name for state in states if state.behind}
    assert {*found.end, *found.evict, *found.wait} == older, "nobody is forgotten"


def test_a_launch_that_failed_stops_it_unless_it_is_an_old_story() -> None:
    failing = Group("g", 0, 4, 2, (Machine("i-1", "a", "InService"),), "no capacity", "7")
    assert owed([failing]) == 1
    assert refused([failing], {"g": "6"}) == ["g launches none: no capacity"]
    assert refused([failing], {"g": "7"}) == []
    assert refused([failing._replace(desired=1)], {}) == [], "no machine is owed"


def test_successors_have_their_time_but_a_broken_gpu_ends_it_at_once() -> None:
    late, sick = new("late", joined=False), new("sick", failed=True)
    assert broken([late], {"late": 5.0}, 10.0) == []
    assert broken([late], {"late": 11.0}, 10.0) == ["late, which has the new image, has not joined after 10 s"]
    assert broken([sick], {}, 10.0) == ["sick, which has the new image, is gpu-failed"]
    assert broken([old("a", failed=True, joined=False)], {"a": 99.0}, 10.0) == [], "it is the one to be replaced"


def owing(*there: int, desired: int = 50) -> Group:
    return Group("g", 0, 500, desired, tuple(Machine(f"i-{n}", "a", "InService") for n in there))


def test_a_group_that_always_owes_some_has_its_time_anew_with_each_machine_that_comes() -> None:
    waits, patience = Waits(), 900.0
    for moment in range(0, 5000, 500):
        # One goes and one comes in each look: never all of them are there.
        waits = waits.then([], [owing(*range(moment, moment + 49))], float(moment))
        assert late([owing(*range(49))], waits.ages(float(moment)), patience) == []
    stuck = owing(*range(4500, 4549))
    waits = waits.then([], [owing(*range(4501, 4549))], 5000.0)
    assert waits.ages(5000.0) == {"g": 500.0}, "one that goes is no progress"
    waits = waits.then([], [stuck._replace(machines=stuck.machines[1:])], 5401.0)
    assert late([stuck], waits.ages(5401.0), patience) == ["g has launched 49 of 50 machines, and no more for 900 s"]
    assert waits.then([], [owing(*range(50))], 5402.0).ages(9999.0) == {}, "it owes none"


def test_a_successor_has_its_time_from_when_it_was_first_seen() -> None:
    waits = Waits().then([new("n", joined=False), old("o", joined=False)], [], 0.0)
    waits = waits.then([new("n", ready=False)], [], 10.0)
    assert waits.ages(15.0) == {"n": 15.0}
    assert waits.then([new("n")], [], 20.0).ages(20.0) == {}


def test_no_machine_goes_while_a_third_of_the_pool_is_out_of_sight() -> None:
    lost = [old(f"l{n}", ready=False) for n in range(3)]
    assert out_of_sight([*lost, *(old(f"o{n}") for n in range(6))]).startswith("3 of the 9 nodes are not Ready")
    assert out_of_sight([*lost, *(old(f"o{n}") for n in range(7))]) == "", "three of ten"
    assert out_of_sight(lost[:2]) == "", "two sick machines are two sick machines"
    assert out_of_sight([new(f"n{n}", ready=False) for n in range(9)]) == "", "these come"


def test_a_machine_is_older_by_its_image_or_its_template_and_not_by_what_nobody_knows() -> None:
    wanted = Wanted("/p", "ami-2", "gpu-2", "4")
    assert wanted.behind(Machine("i", "a", "InService", "4"), "ami-2") == ()
    assert wanted.behind(Machine("i", "a", "InService", "4"), "ami-1") == ("image",)
    assert wanted.behind(Machine("i", "a", "InService", "3"), "ami-1") == ("image", "template")
    assert wanted.behind(Machine("i", "a", "InService", ""), "") == ()


def test_the_question_says_when_work_has_less_than_the_notice() -> None:
    outcome = Outcome("main", "west-gpu", name="gpu-2", machines=2, at_a_time=1)
    busy = State("i-1", "g", datetime(2026, 11, 1, tzinfo=UTC), behind=("image",), work=("team-lab/train",))
    short, long = (How(deadline=timedelta(minutes=minutes)) for minutes in (30, 60))
    notice = timedelta(hours=1)
    assert "less than the notice of 60 min" in question(outcome, [busy], short, notice)
    assert "notice" not in question(outcome, [busy], long, notice)
    assert "notice" not in question(outcome, [busy._replace(work=())], short, notice), "nobody is there"
