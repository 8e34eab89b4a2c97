"""The steps by which a member that has lost its disk begins anew, on a machine that only notes what is asked of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from landbridge import waiting
from landbridge.etcd import replace
from landbridge.etcd.machine_steps import MachineSteps
from landbridge.etcd.ring import EtcdError
from landbridge.remote_execution import CommandResult

MOUNT = "var-lib-etcd-main.mount"


class Machine:
    """Has a member's old data in the folder, and its disk or not."""

    def __init__(self, *, disk: bool) -> None:
        self.disk, self.asked = disk, list[str]()

    def run(self, _name: str, argv: Any, _stdin: bytes, _seconds: float) -> CommandResult:
        self.asked.append(" ".join(argv))
        if "is-active" in argv:
            return CommandResult(0, "active" if self.disk else "inactive", "")
        return CommandResult(0, "", "")


def aside(machine: Machine, told: list[str]) -> None:
    replace.aside(MachineSteps(machine), "main-etcd-1", "main", told.append)  # type: ignore[arg-type]


def test_old_data_are_kept_beside_the_new_once_the_disk_is_there() -> None:
    machine, told = Machine(disk=True), list[str]()
    aside(machine, told)
    stop, start, active, there, move = machine.asked
    assert stop == "systemctl stop etcd-main.service"
    assert (start, active) == (f"systemctl start --no-block {MOUNT}", f"systemctl is-active {MOUNT}")
    assert there == "test -e /var/lib/etcd/main/data"
    assert "mv /var/lib/etcd/main/data /var/lib/etcd/main/data.before-" in move
    assert told[0].startswith("main-etcd-1: the old data of etcd main are kept in /var/lib/etcd/main/data.before-")


def test_nothing_begins_on_the_root_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(disk=False)
    moments = iter((0.0, 30.0, 61.0))
    # Its own name for a clock: pytest's plugins read the real one meanwhile.
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: next(moments), sleep=lambda _seconds: None))
    with pytest.raises(EtcdError, match="main-etcd-1: the disk of etcd main is not mounted"):
        aside(machine, [])
    assert not [words for words in machine.asked if "mv" in words or "etcd-main.service" in words.split("start")[-1:]]
