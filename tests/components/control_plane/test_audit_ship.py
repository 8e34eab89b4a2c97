"""The audit log's way off the machine: every entry arrives once, through rotations, outages and restarts."""

import gzip
import json
from pathlib import Path

import audit_ship
import pytest


class Log:
    """An audit log as lumberjack writes it, and the bucket that it comes to."""

    def __init__(self, folder: Path) -> None:
        self.path, self.number, self.fails = folder / "audit.log", 0, False
        self.objects: dict[str, bytes] = {}

    def upload(self, _bucket: str, key: str, path: Path, _about: dict[str, str]) -> None:
        if self.fails:
            raise OSError("no way out")
        self.objects[key] = gzip.decompress(path.read_bytes())

    def write(self, count: int, end: str = "\n") -> None:
        with self.path.open("a") as file:
            for _ in range(count):
                self.number += 1
                stamp = f"2026-01-02T03:04:05.{self.number:06}Z"
                file.write(json.dumps({"auditID": self.number, "requestReceivedTimestamp": stamp}) + end)

    def rotate(self) -> None:
        self.path.rename(self.path.with_name(f"audit-2026-01-02T03-04-{self.number:06}.log"))

    def arrived(self) -> list[int]:
        return [json.loads(line)["auditID"] for data in self.objects.values() for line in data.splitlines()]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Log:
    monkeypatch.setattr(audit_ship, "STATE", tmp_path / "state/audit.json")
    (tmp_path / "state").mkdir()
    return Log(tmp_path)


def shipper(log: Log) -> audit_ship.Shipper:
    return audit_ship.Shipper(log, "b", "audit/main/m", log.path)  # type: ignore[arg-type]


def test_every_entry_arrives_once_through_rotations_outages_and_restarts(
    monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.setattr(audit_ship, "MOST_BYTES", 700)
    one = shipper(log)
    one.ship()
    log.write(3)
    one.ship()
    log.write(30)
    log.rotate()
    log.write(2)
    log.fails = True
    with pytest.raises(OSError, match="no way out"):
        one.ship()
    log.rotate()
    log.write(5)
    log.fails = False
    one = shipper(log)
    one.ship()
    assert log.arrived() == list(range(1, 41))
    assert [path.name for path in log.path.parent.glob("audit*.log")] == ["audit.log"], "what has left is gone"
    log.write(1, end="")
    one.ship()
    assert log.arrived()[-1] == 40, "half a line waits"
    one.ship(tail=True)
    assert log.arrived() == list(range(1, 42))
    assert all(data.endswith(b"\n") for data in list(log.objects.values())[:-1])
    assert min(log.objects) == "audit/main/m/2026-01-02/030405.000001Z-000000000000.jsonl.gz"


def test_a_part_that_was_sent_but_not_noted_is_sent_again_as_the_same_object(log: Log) -> None:
    log.write(3)
    shipper(log).ship()
    audit_ship.STATE.unlink()
    log.write(2)
    shipper(log).ship()
    assert len(log.objects) == 1
    assert log.arrived() == [1, 2, 3, 4, 5]


def test_a_file_that_was_sent_whole_is_only_removed_once_that_is_noted(
    monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    log.write(3)
    log.rotate()
    monkeypatch.setattr(audit_ship.Shipper, "keep", lambda self: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        shipper(log).ship()
    assert len(list(log.path.parent.glob("audit-*.log"))) == 1
