"""From a log and what /proc and /sys show to what the API is told, and when. A pipe stands for /dev/kmsg."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)
from tests.support.waiting import eventually

import kernel_rows  # isort: skip
import kube_http  # isort: skip
import node_findings  # isort: skip
import node_looks  # isort: skip
import node_reports  # isort: skip

EVENTS, STATUS = node_reports.EVENTS, "/api/v1/nodes/gpu-1/status"
MOUNTS = (
    "36 35 8:1 / / rw,relatime shared:1 - ext4 /dev/root {root}\n"
    "40 36 8:2 / /var/lib rw,noatime - xfs /dev/sdb rw,attr2\n"
    "41 36 8:3 / /srv ro,relatime - ext4 /dev/sdc ro\n"
    "50 36 0:50 / /shared rw,relatime shared:9 - nfs4 10.2.80.41:/srv/nfs rw,vers=4.2,hard\n"
    "60 36 0:60 / /proc rw - proc proc rw\n"
)


class Api:
    """Keeps what it is told. `down` is how it fails; `node` what stands in the Node."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Any]] = []
        self.down: Exception | None = None
        self.conditions: list[dict[str, str]] = []

    def ask(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if self.down:
            raise self.down
        self.calls.append((method, path, body))
        return {"GET": {"status": {"conditions": self.conditions}}, "POST": body}.get(method, {})

    def events(self) -> list[Any]:
        return [body for method, path, body in self.calls if (method, path) == ("POST", EVENTS)]

    def told(self) -> list[dict[str, str]]:
        return [one for _, path, body in self.calls if path == STATUS for one in body["status"]["conditions"]]


class Bed:
    def __init__(self, folder: Path) -> None:
        self.folder, self.api = folder, Api()
        self.pipe = folder / "kmsg"
        os.mkfifo(self.pipe)
        self.writer = os.open(self.pipe, os.O_RDWR)
        self.sequence = 0
        (folder / "proc/self").mkdir(parents=True)
        (folder / "sys/dev/block").mkdir(parents=True)
        for number, name in (("8:1", "sda1"), ("8:2", "sdb"), ("8:3", "sdc")):
            (folder / f"sys/block/{name}").mkdir(parents=True)
            (folder / f"sys/dev/block/{number}").symlink_to(folder / f"sys/block/{name}")
        self.mounts()
        self.unit = self.start()

    def mounts(self, root: str = "rw,errors=remount-ro") -> None:
        (self.folder / "proc/self/mountinfo").write_text(MOUNTS.format(root=root))

    def start(self) -> Any:
        """As after a restart of the unit."""
        reports = node_reports.Reports(self.api, "gpu-1")  # type: ignore[arg-type]
        made = node_findings.Findings(node_findings.Log(self.pipe), reports, self.folder / "run/state.json")
        made.looks["NTPProblem"] = node_looks.Clock(lambda: (True, 0.01)).look
        return made

    def says(self, text: str, seconds: float = 60.0, sequence: int = 0) -> None:
        self.sequence = sequence or self.sequence + 1
        os.write(self.writer, f"4,{self.sequence},{seconds * 1e6:.0f},-;{text}\n DEVICE=+pci:0000\n".encode())

    def round(self, *, look: bool = True, at_once: bool = True) -> None:
        """One of the loop's, and with `at_once` long after the last."""
        if at_once:
            self.unit.reports.conditions_due = 0.0
        self.unit.lines()
        if look:
            self.unit.look()
        self.unit.say()

    def again(self) -> Any:
        self.api.calls.clear()
        self.unit = self.start()
        return self.unit


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    monkeypatch.setattr(node_looks, "PROC", tmp_path / "proc")
    monkeypatch.setattr(node_looks, "SYS", tmp_path / "sys")
    made = Bed(tmp_path)
    yield made
    os.close(made.writer)


def test_a_node_that_does_well_asks_once_and_says_nothing(bed: Bed) -> None:
    bed.api.conditions = [{"type": "Ready", "status": "True"}, {"type": "GPUBurnInFailed", "status": "True"}]
    bed.says("EXT4-fs (sda1): mounted filesystem with ordered data mode")
    for _ in range(3):
        bed.round()
    assert [(method, path) for method, path, _ in bed.api.calls] == [("GET", "/api/v1/nodes/gpu-1")]


def test_what_lasts_is_a_condition_and_an_event_with_the_kernel_s_own_time(bed: Bed) -> None:
    bed.says("NVRM: Xid (PCI:0000:44:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", 90.0)
    bed.says("NVRM: Xid (PCI:0000:44:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)", 91.0)
    bed.round()
    (condition,) = bed.api.told()
    started = time.time() - time.monotonic()
    moment = [node_reports.stamp(started + 90.0 + slack) for slack in (-0.5, 0.0, 0.5)]
    assert (condition["type"], condition["status"], condition["reason"]) == ("GPUUnhealthy", "True", "GPUOffBus")
    assert condition["message"].startswith("GPU 0000:44:00: Xid 79, it has fallen off the bus")
    assert condition["lastTransitionTime"] in moment
    first, second = bed.api.events()
    assert (first["reason"], first["type"], first["count"]) == ("GPUOffBus", "Warning", 1)
    assert first["source"] == {"component": "kernel-monitor", "host": "gpu-1"}
    assert first["involvedObject"]["name"] == "gpu-1"
    assert first["firstTimestamp"] == first["lastTimestamp"]
    assert first["firstTimestamp"] in moment
    assert second["reason"] == "GPUNeedsAction"


def test_it_is_cleared_with_the_last_subject(bed: Bed) -> None:
    for server in ("10.2.80.41", "10.2.80.42"):
        bed.says(f"nfs: server {server} not responding, still trying")
    bed.round(look=False)
    (condition,) = bed.api.told()
    assert condition["message"] == "NFS server 10.2.80.41 does not answer; NFS server 10.2.80.42 does not answer"
    bed.says("nfs: server 10.2.80.42 OK")
    bed.round(look=False)
    assert [one["status"] for one in bed.api.told()] == ["True", "True"]
    bed.says("nfs: server 10.2.80.41 OK")
    bed.says("nfs: server 10.2.80.41 OK")
    bed.round(look=False)
    assert [(one["status"], one["reason"]) for one in bed.api.told()[2:]] == [("False", "NFSServersAnswer")]
    assert [one["type"] for one in bed.api.events()] == ["Warning", "Warning", "Normal", "Normal"]


def test_looks_see_what_the_log_does_not_say(bed: Bed) -> None:
    (bed.folder / "sys/class/net/eth1").mkdir(parents=True)
    (bed.folder / "sys/class/net/eth1/carrier").write_text("0\n")
    (bed.folder / "proc/71").mkdir()
    (bed.folder / "proc/71/stat").write_text("71 (containerd ) x) D 1 71 71 0\n")
    bed.mounts(root="ro,errors=remount-ro")
    for line in (
        "nfs: server 10.2.80.41 not responding, still trying",
        "nfs: server 192.0.2.9 not responding, still trying",
        "e1000e: eth1 NIC Link is Down",
        "e1000e: eth2 NIC Link is Down",
        "INFO: task containerd:71 blocked for more than 120 seconds.",
        "XFS (sdb): Log I/O Error Detected.  Shutting down filesystem",
    ):
        bed.says(line)
    bed.round()
    last = {one["type"]: one for one in bed.api.told()}
    assert {name: one["status"] for name, one in last.items()} == dict.fromkeys(
        ("NFSUnavailable", "NetworkLinkDown", "KernelDeadlock", "XfsShutdown", "ReadonlyFilesystem"), "True"
    )
    assert last["ReadonlyFilesystem"]["message"] == "the file system on sda1, at /, became read-only after errors"
    assert "192.0.2.9" not in last["NFSUnavailable"]["message"], "nothing is mounted from there"
    assert "eth2" not in last["NetworkLinkDown"]["message"], "it has gone"
    (bed.folder / "sys/class/net/eth1/carrier").write_text("1\n")
    (bed.folder / "proc/71/stat").write_text("71 (containerd) S 1 71 71 0\n")
    bed.mounts()
    bed.round()
    now = {one["type"]: one["status"] for one in bed.api.told()}
    assert {name for name, status in now.items() if status == "False"} == {
        "NetworkLinkDown",
        "KernelDeadlock",
        "ReadonlyFilesystem",
    }


def test_a_clock_that_nobody_sets_is_told_after_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    at, state = [1000.0], [False]
    monkeypatch.setattr(node_looks.time, "monotonic", lambda: at[0])
    clock = node_looks.Clock(lambda: (state[0], 16.0))
    assert clock.look(()) == {}
    at[0] += 601
    (said,) = clock.look(()).values()
    assert said is not None
    assert (said.condition, said.reason) == ("NTPProblem", "ClockNotSynchronized")
    assert said.message == "the clock follows no other one since 601 s: it may be 16 s wrong"
    assert clock.look(("clock",)) == {"clock": None}
    state[0] = True
    assert clock.look(("clock",)) == {}
    right, seconds = node_looks.kernel_clock()
    assert isinstance(right, bool)
    assert 0 <= seconds < 100_000


def test_the_same_again_is_one_event_that_counts_and_is_written_once_a_minute(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = [time.monotonic()]
    monkeypatch.setattr(node_reports.time, "monotonic", lambda: at[0])
    for number in range(5):
        bed.says(f"EXT4-fs error (device sdb7): ext4_find_entry:1455: inode #{number}")
        bed.round()
    (made,) = bed.api.events()
    assert made["count"] == 1
    at[0] += 61
    bed.round()
    method, path, body = bed.api.calls[-1]
    assert (method, path, body["count"]) == ("PATCH", f"{EVENTS}/{made['metadata']['name']}", 5)
    assert "inode #4" in body["message"]
    calls = len(bed.api.calls)
    bed.round()
    assert len(bed.api.calls) == calls


def test_a_link_that_flaps_is_not_told_each_time(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    at = [time.monotonic()]
    monkeypatch.setattr(node_reports.time, "monotonic", lambda: at[0])
    for _ in range(10):
        for state in ("Down", "Up 1000 Mbps", "Down"):
            bed.says(f"e1000e: eth1 NIC Link is {state}")
            bed.round(look=False, at_once=False)
    assert [one["status"] for one in bed.api.told()] == ["True"]
    assert len(bed.api.events()) == 2
    bed.says("e1000e: eth1 NIC Link is Up 1000 Mbps")
    at[0] += 61
    bed.round(look=False, at_once=False)
    assert [one["status"] for one in bed.api.told()] == ["True", "False"]
    counts = [body["count"] for method, path, body in bed.api.calls if method == "PATCH" and path.startswith(EVENTS)]
    assert sorted(counts) == [11, 20]


def test_nothing_is_lost_while_the_api_is_away_and_nothing_told_twice(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = [time.monotonic()]
    monkeypatch.setattr(node_reports.time, "monotonic", lambda: at[0])
    monkeypatch.setattr(node_findings.time, "monotonic", lambda: at[0])
    bed.api.down = OSError("no route")
    bed.says("nfs: server 10.2.80.41 not responding, still trying")
    pauses = []
    for _ in range(12):
        bed.round(look=False)
        pauses.append(bed.unit.reports.pause)
        at[0] += pauses[-1] + 0.1
    assert pauses[:4] == [1.0, 2.0, 4.0, 8.0]
    assert pauses[-1] == 300.0
    bed.api.down = None
    bed.round(look=False)
    assert len(bed.api.told()) == len(bed.api.events()) == 1
    # The unit starts again and reads the log from its beginning.
    bed.again()
    bed.says("nfs: server 10.2.80.41 not responding, still trying", sequence=1)
    bed.says("nfs: server 10.2.80.41 OK", sequence=2)
    bed.round(look=False)
    assert [one["status"] for one in bed.api.told()] == ["False"]
    assert [one["reason"] for one in bed.api.events()] == ["NFSServersAnswer"]
    assert all(method != "GET" for method, _, _ in bed.api.calls)


def test_what_was_not_told_before_a_restart_of_the_unit_is_told_after_it(bed: Bed) -> None:
    bed.round()
    bed.api.down = kube_http.Answer(503, "no")
    bed.says("nfs: server 10.2.80.41 not responding, still trying")
    bed.round(look=False)
    bed.unit.keep()
    bed.api.down = None
    bed.again()
    bed.says("nfs: server 10.2.80.41 not responding, still trying", sequence=1)
    bed.round(look=False)
    assert [one["status"] for one in bed.api.told()] == ["True"]
    assert [one["reason"] for one in bed.api.events()] == ["NFSServerNotResponding"]


def test_what_an_earlier_start_of_the_machine_left_is_cleared(bed: Bed) -> None:
    bed.api.conditions = [
        {"type": "GPUUnhealthy", "status": "True"},
        {"type": "ReadonlyFilesystem", "status": "True"},
        {"type": "XfsShutdown", "status": "False"},
        {"type": "GPUBurnInFailed", "status": "True"},
        {"type": "MemoryPressure", "status": "True"},
    ]
    bed.mounts(root="ro")
    bed.round()
    bed.round()
    assert {(one["type"], one["status"]) for one in bed.api.told()} == {
        ("GPUUnhealthy", "False"),
        ("ReadonlyFilesystem", "True"),
    }


def test_a_flood_has_bounds(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_reports, "MOST_EVENTS", 8)
    bed.api.down = OSError("no route")
    for number in range(40):
        bed.says(f"unregister_netdevice: waiting for veth{number} to become free. Usage count = 1")
        bed.says(f"nfs: server 192.0.2.{number} not responding, still trying")
    bed.round(look=False)
    assert len(bed.unit.reports.events) == 8
    assert len(bed.unit.reports.wrong["NFSUnavailable"]) == node_reports.MOST_SUBJECTS
    bed.api.down, bed.unit.reports.resting_until = None, 0.0
    bed.round(look=False)
    assert len(bed.api.told()[0]["message"].encode()) <= 1024
    bed.says("unregister_netdevice: waiting for late to become free. Usage count = 1")
    bed.unit.reports.resting_until = 0.0
    bed.round(look=False)
    assert "late" in bed.api.events()[-1]["message"], "what was told makes room"


def test_an_event_that_nobody_takes_holds_up_nothing(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.round()
    plain, asked = bed.api.ask, []

    def ask(method: str, path: str, body: Any = None, kind: str = "") -> Any:
        asked.append(body)
        if method == "POST" and body["reason"] == "SoftLockup":
            raise kube_http.Answer(422, "invalid")
        if method == "POST" and body["reason"] == "IOError":
            raise kube_http.Answer(409, "already exists")
        return plain(method, path, body, kind)

    monkeypatch.setattr(bed.api, "ask", ask)
    bed.says("watchdog: BUG: soft lockup - CPU#19 stuck for 22s! [x:1]")
    bed.says("Buffer I/O error on dev sda, logical block 0, lost sync page write")
    bed.says("nfs: server 10.2.80.41 not responding, timed out")
    bed.round(look=False)
    assert [one["reason"] for one in bed.api.events()] == ["NFSTimedOut"]
    count = len(asked)
    bed.round(look=False)
    assert len(asked) == count


def test_events_go_after_an_hour_and_then_there_is_another(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    at = [time.monotonic()]
    monkeypatch.setattr(node_reports.time, "monotonic", lambda: at[0])
    line = "Buffer I/O error on dev sda, logical block 0, lost sync page write"
    bed.says(line)
    bed.round(look=False)
    plain = bed.api.ask

    def ask(method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if method == "PATCH" and path.startswith(EVENTS):
            raise kube_http.Answer(404, "not found")
        return plain(method, path, body, kind)

    monkeypatch.setattr(bed.api, "ask", ask)
    at[0] += 61
    bed.says(line, 4000.0)
    bed.round(look=False)
    first, second = bed.api.events()
    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_it_follows_by_itself(bed: Bed) -> None:
    """The loop: within a second of the line, and not at work all the time."""

    class End(Exception):
        pass

    def run() -> None:
        with contextlib.suppress(End):
            bed.unit.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    used = time.process_time()
    time.sleep(1.0)
    bed.says("nfs: server 10.2.80.41 not responding, still trying")
    late = time.monotonic() + 5
    while not bed.api.told() and time.monotonic() < late:
        time.sleep(0.02)
    assert bed.api.told()
    assert time.process_time() - used < 0.6
    eventually(lambda: json.loads((bed.folder / "run/state.json").read_text())["sequence"] == 1, 5)

    def end() -> None:
        raise End

    bed.unit.lines = end
    bed.says("the last one")
    thread.join(5)
    assert not thread.is_alive()


def test_every_condition_that_lasts_has_somebody_who_clears_it(bed: Bed) -> None:
    """By a look, or by a line."""
    lines = {row.condition for row in kernel_rows.ROWS if row.well}
    assert kernel_rows.WELL.keys() == lines | bed.unit.looks.keys()
