"""What a machine of the control plane measures of itself: its disks, clock, memory and load, by node_exporter's names.

GET /metrics by TLS, for whoever has a certificate of etcd's clients: API machines pass it on (etcd_metrics.py).
"""

import ctypes
import http.client
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from machine import say
from tls_server import Handler, Server, Unanswered

PORT, PATH = 10262, "/metrics"
SERVING, FRIENDS = "/etc/etcd/pki/server", "/etc/etcd/pki/clients-ca.crt"
PROC = Path("/proc")
MEMORY = ("MemTotal", "MemAvailable")
# adjtimex(2): its state of a clock that nothing sets, and the flag by which its offset is in nanoseconds. What it fills
# are 26 words of 64 bits, here the places of some.
TIME_ERROR, STA_NANO, WORDS = 5, 0x2000, 26
OFFSET, MAX_ERROR, STATUS = 1, 3, 5
# chronyc(1), "tracking": seconds by which the clock is off, the 5th field of the CSV form. chrony corrects clocks
# without the kernel's own offset, which stays 0.
CHRONY_OFFSET, CHRONY_SECONDS = 4, 4.0


class Sample(NamedTuple):
    """`labels` as they stand between braces."""

    name: str
    value: float
    labels: str = ""


class Mount(NamedTuple):
    device: str
    point: str
    read_only: bool


def disks(text: str) -> list[Mount]:
    """Of proc_pid_mounts(5): each disk once, where it can be written to, and is mounted highest."""
    found: dict[str, Mount] = {}
    for line in text.splitlines():
        device, point, _, options, *_ = line.split(" ")
        one = Mount(device, point, "ro" in options.split(","))
        before = found.get(device, one)
        if device.startswith("/dev/"):
            found[device] = min(before, one, key=lambda each: (each.read_only, len(each.point)))
    return list(found.values())


def of_disks() -> Iterator[Sample]:
    for one in disks((PROC / "self/mounts").read_text()):
        labels = f'device="{one.device}",mountpoint="{one.point}"'
        try:
            told = os.statvfs(one.point)
        except OSError as error:
            # The others are told all the same.
            say(f"ERROR: {one.point}: {error.strerror}")
            continue
        values = {
            "avail_bytes": told.f_bavail * told.f_frsize,
            "size_bytes": told.f_blocks * told.f_frsize,
            "files": told.f_files,
            "files_free": told.f_ffree,
            "readonly": one.read_only,
        }
        yield from (Sample(f"node_filesystem_{name}", float(value), labels) for name, value in values.items())


def of_clock() -> Iterator[Sample]:
    told = (ctypes.c_int64 * WORDS)()
    state = ctypes.CDLL(None).adjtimex(told)
    kernel = told[OFFSET] / (1e9 if told[STATUS] & STA_NANO else 1e6)
    chrony = chrony_offset_seconds()
    yield Sample("node_timex_sync_status", float(state != TIME_ERROR))
    yield Sample("node_timex_maxerror_seconds", told[MAX_ERROR] / 1e6)
    yield Sample("node_timex_offset_seconds", kernel if chrony is None else chrony)


def chrony_offset_seconds() -> float | None:
    """None where there is no chrony, or it says nothing."""
    if not (program := shutil.which("chronyc")):
        return None
    try:
        done = subprocess.run([program, "-c", "tracking"], capture_output=True, text=True, timeout=CHRONY_SECONDS)
        return float(done.stdout.split(",")[CHRONY_OFFSET])
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return None


def of_memory() -> Iterator[Sample]:
    told = dict(line.split(":", 1) for line in (PROC / "meminfo").read_text().splitlines())
    yield from (Sample(f"node_memory_{name}_bytes", float(told[name].split()[0]) * 1024) for name in MEMORY)
    yield Sample("node_load1", float((PROC / "loadavg").read_text().split()[0]))


def text() -> str:
    """In the form that Prometheus reads. Raises OSError."""
    found = [*of_disks(), *of_clock(), *of_memory()]
    lines = [f"{one.name}{{{one.labels}}} {one.value!r}" for one in found]
    return "\n".join(lines) + "\n"


class Own(Handler):
    def answer(self) -> bytes:
        if self.path != PATH:
            raise Unanswered(http.client.NOT_FOUND, f"there is {PATH} alone")
        return text().encode()


def main() -> None:
    say(f"tells of this machine at port {PORT}")
    Server(PORT, Own, SERVING, FRIENDS).serve_forever()


if __name__ == "__main__":
    main()
