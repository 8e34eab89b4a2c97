"""Which snapshot a ring goes back to, how high it goes on from there, and when the newest one is too old."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from landbridge.cluster.info import MachineInfo
from landbridge.errors import LandbridgeError
from landbridge.etcd import store
from landbridge.etcd.restore import BUMP, Restore
from landbridge.etcd.snapshot_age import late
from landbridge.remote_execution import CommandResult
from tests.landbridge.bed import Folder

BEGUN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def bucket(folder: Path, *revisions: int) -> Folder:
    """Snapshots of main, an hour between each."""
    made = Folder(folder)
    for hour, revision in enumerate(revisions):
        made.put(store.key("main", "main", revision, BEGUN + timedelta(hours=hour)), b"x")
    return made


def test_a_ring_that_began_anew_empty_does_not_hide_what_was_before(tmp_path: Path) -> None:
    before, after = "2026-01-01T130000Z-900.db", "2026-01-01T150000Z-12.db"
    with pytest.raises(LandbridgeError, match=rf"revision 12,.*900.*empty.*--from .*{before} .*--from .*{after} "):
        store.newest(bucket(tmp_path, 800, 900, 10, 12), "main", "main")
    # A restore raises revisions, so there the youngest is the highest.
    assert store.revision(store.newest(bucket(tmp_path / "b", 800, 900, BUMP + 850), "main", "main").key) == BUMP + 850


class Silent:
    """Machines on which nothing answers."""

    def run(self, *_given: Any, **_more: Any) -> CommandResult:
        return CommandResult(1, "", "connection refused")


def test_a_restore_goes_on_above_all_that_was_ever_seen(tmp_path: Path) -> None:
    machine = MachineInfo("main-etcd-1", "etcd", "a", "10.0.0.1", "main-etcd-1.x", "g")
    fields = {"name": "main", "etcd": [machine], "api": [], "machines": {machine.name: machine}}
    info: Any = type("Info", (), fields)()
    made = Restore(Silent(), info, bucket(tmp_path, 100, BUMP + 100, BUMP + 350), "main", lambda _line: None)
    assert made.highest() == BUMP + 350
    # A ring that was lost before its first snapshot, and no member answers.
    (tmp_path / "empty").mkdir()
    assert Restore(Silent(), info, bucket(tmp_path / "empty"), "main", lambda _line: None).highest() == 0


@pytest.mark.parametrize(
    ("ring", "minutes", "told"),
    [("main", 14, False), ("main", 21, False), ("main", 23, True), ("events", 60, False), ("events", 70, True)],
)
def test_a_snapshot_is_late_when_a_timer_has_missed_its_turn(ring: str, minutes: int, told: bool) -> None:
    said = late(ring, datetime.now(UTC) - timedelta(minutes=minutes))
    assert (f"{minutes} min old" in said and f"etcd-backup-{ring}" in said) if told else said == ""


def test_a_young_ring_without_a_snapshot_is_not_late() -> None:
    assert late("main", None) == ""
