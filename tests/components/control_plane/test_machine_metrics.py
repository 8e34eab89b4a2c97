"""What machines that are no nodes measure of themselves: the same as the real node_exporter would."""

import urllib.request
from pathlib import Path

import machine_metrics
import pytest

from tests.components.control_plane import metrics
from tests.support.apiserver import HERE, free_port
from tests.support.prometheus import running
from tests.support.waiting import eventually

COLLECTORS = ("filesystem", "loadavg", "meminfo", "timex")
# What does not change between two looks.
FIXED = (
    "node_filesystem_size_bytes",
    "node_filesystem_files",
    "node_filesystem_readonly",
    "node_memory_MemTotal_bytes",
)
# An etcd machine's, as proc_pid_mounts(5) has them, with what systemd mounts a second time.
MOUNTS = """\
proc /proc proc rw,nosuid 0 0
/dev/nvme0n1p1 / ext4 rw,relatime,discard 0 0
tmpfs /run tmpfs rw,nosuid,nodev 0 0
/dev/nvme0n1p1 /run/credentials/a ext4 ro,relatime 0 0
/dev/nvme1n1 /var/lib/etcd/main ext4 rw,noatime 0 0
/dev/nvme2n1 /var/lib/etcd/events ext4 ro,noatime 0 0
/dev/nvme0n1p15 /boot/efi vfat rw,relatime,errors=remount-ro 0 0
"""
TRACKING = "A9FEA97B,169.254.169.123,4,1795960000.1,{},0,0.00001,-7.1,0,0,0.0003,0.0002,16.1,Normal"


def test_the_real_node_exporter_calls_it_so_and_measures_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_metrics.shutil, "which", lambda _: None)
    port = free_port()
    words = [f"--web.listen-address={HERE}:{port}", "--collector.disable-defaults"]

    def told() -> str:
        with urllib.request.urlopen(f"http://{HERE}:{port}/metrics", timeout=10) as answer:
            return str(answer.read().decode())

    with running("node_exporter", tmp_path / "log", *words, *(f"--collector.{name}" for name in COLLECTORS)):
        upstream = metrics.values(eventually(told, 60, (OSError,)))
    ours = metrics.values(machine_metrics.text())
    assert {name for name, _ in ours} <= {name for name, _ in upstream}
    for (name, labels), value in ours.items():
        # node_exporter says of what kind a file system is, too.
        said = [
            told
            for (other, parts), told in upstream.items()
            if other == name and set(labels.split(",")) <= {*parts.split(","), ""}
        ]
        # What changes does so by little between two looks.
        assert said == [value if name in FIXED else pytest.approx(value, rel=0.2, abs=2.0)], (name, labels)
    assert ours["node_timex_sync_status", ""] == upstream["node_timex_sync_status", ""]
    assert ours["node_timex_offset_seconds", ""] == pytest.approx(upstream["node_timex_offset_seconds", ""], abs=1e-3)
    assert ours["node_timex_maxerror_seconds", ""] == pytest.approx(
        upstream["node_timex_maxerror_seconds", ""], abs=0.5
    )


def test_each_disk_is_told_of_once_where_it_can_be_written_to() -> None:
    assert machine_metrics.disks(MOUNTS) == [
        ("/dev/nvme0n1p1", "/", False),
        ("/dev/nvme1n1", "/var/lib/etcd/main", False),
        ("/dev/nvme2n1", "/var/lib/etcd/events", True),
        ("/dev/nvme0n1p15", "/boot/efi", False),
    ]


@pytest.mark.parametrize(
    ("script", "seconds"),
    [
        (f"[ \"$*\" = '-c tracking' ] && echo {TRACKING.format('-0.213400001')}", -0.213400001),
        ("echo '506 Cannot talk to daemon'; exit 1", None),
        ("echo", None),
    ],
)
def test_where_chrony_is_it_says_how_far_off_the_clock_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, seconds: float | None
) -> None:
    program = tmp_path / "chronyc"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert machine_metrics.chrony_offset_seconds() == seconds
