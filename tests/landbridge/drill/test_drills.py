"""What a drill concludes from its record, and who may start one."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from landbridge.cluster.session import Session
from landbridge.commands.drill import consent, drill
from landbridge.drill.bench import DrillError, Outcome
from landbridge.drill.run import DRILLS, Result, gap, settle
from landbridge.drill.writer import Write
from landbridge.errors import ConsentError, UsageError
from landbridge.places import Place

BUMP = 1_000_000_000
KEEPS, LOSES = DRILLS["leader-killed"], DRILLS["everything-lost"]
# Five before the snapshot at revision 105, three after it, two after the restore.
RECORD = [
    Write(n, 1000.0 + n, revision, 0.1, 1) for n, revision in enumerate([*range(101, 109), BUMP + 106, BUMP + 107])
]
BACK = Outcome(1.0, revision=105, goes_on=105 + BUMP)


def settled(drill: Any, outcome: Outcome, missing: set[int]) -> Result:
    result = Result(drill.name)
    settle(drill, result, outcome, RECORD, {one.number for one in RECORD} - missing)
    return result


def test_a_write_that_is_missing_fails_a_drill_that_may_lose_none() -> None:
    assert settled(KEEPS, Outcome(1.0), set()).lost == 0
    with pytest.raises(
        DrillError, match=r"1 acknowledged writes are lost: 1 writes \(numbers 3; revisions 104 to 104\)"
    ):
        settled(KEEPS, Outcome(1.0), {3})


def test_a_restore_loses_exactly_what_came_after_its_snapshot() -> None:
    result = settled(LOSES, BACK, {5, 6, 7})
    assert result.lost == 3
    assert result.gap.startswith("3 writes (numbers 5-7; revisions 106 to 108), acknowledged 00:16:45")


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({4, 5, 6, 7}, "writes that revision 105 has are lost: 1 writes"),
        ({5, 6, 7, 8}, "are lost: 1 writes .numbers 8"),
        ({5, 6}, "are there, which no restore can have brought back"),
    ],
)
def test_a_restore_that_loses_more_or_less_fails(missing: set[int], why: str) -> None:
    with pytest.raises(DrillError, match=why):
        settled(LOSES, BACK, missing)


def test_a_restore_with_nothing_to_lose_proves_nothing() -> None:
    record = [*RECORD[:5], *RECORD[8:]]
    with pytest.raises(DrillError, match="nothing is lost"):
        settle(LOSES, Result(LOSES.name), BACK, record, {one.number for one in record})


def test_a_gap_names_every_write() -> None:
    assert "numbers 0-2, 5, 7" in gap([RECORD[n] for n in (0, 1, 2, 5, 7)])


class At:
    """As much of a session as consent looks at."""

    def __init__(self, world: str) -> None:
        self.place = Place(world, Path(), "", "", Path())
        self.info = type("Info", (), {"name": "main"})()


def asked(world: str, really: str | None) -> None:
    at: Any = At(world)
    session: Session = at
    consent(session, really)


def test_a_real_cluster_is_broken_only_by_its_name() -> None:
    asked("local", None)
    asked("real", "main")
    for really in (None, "other"):
        with pytest.raises(ConsentError, match=r"Nothing was broken.*--really main"):
            asked("real", really)


def test_an_unknown_drill_is_told_before_anything_is_read() -> None:
    done = CliRunner().invoke(drill, ["earthquake"])
    assert isinstance(done.exception, UsageError)
    assert "leader-killed" in str(done.exception)
