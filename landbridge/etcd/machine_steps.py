"""What the etcd commands do on machines, as small steps: files, transfers, units, questions."""

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from landbridge.errors import LandbridgeError
from landbridge.remote_execution import CommandResult, RemoteExecution

Result = TypeVar("Result")
# The machines' own scripts, see components/control_plane/on_machine.
SCRIPTS = "/usr/local/lib/landbridge"
SEND = """\
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cloud import cloud
cloud(sys.argv[2]).upload(sys.argv[3], sys.argv[4], Path(sys.argv[5]), {})
"""
# By an address that is good for a while: no machine may read backups by itself.
FETCH = """\
import os, sys, urllib.request
os.umask(0o077)
with urllib.request.urlopen(sys.stdin.read().strip(), timeout=600) as answer, open(sys.argv[1], "wb") as file:
    while chunk := answer.read(1 << 20):
        file.write(chunk)
"""
TRANSFER_SECONDS = 900.0


class StepError(LandbridgeError):
    """A step on a machine failed."""


class MachineSteps:
    """On the machines of one cluster."""

    def __init__(self, remote: RemoteExecution) -> None:
        self.remote = remote

    def ask(self, machine: str, *argv: str, seconds: float = 60, stdin: bytes = b"") -> CommandResult:
        return self.remote.run(machine, argv, stdin, seconds)

    def do(self, machine: str, what: str, *argv: str, seconds: float = 60, stdin: bytes = b"") -> str:
        """What the command said. Raises StepError that names the step."""
        result = self.ask(machine, *argv, seconds=seconds, stdin=stdin)
        if result.code != 0:
            raise StepError(f"{machine}: {what} failed: {result.why}")
        return result.out

    def sh(self, machine: str, what: str, script: str, *, seconds: float = 60) -> str:
        return self.do(machine, what, "sh", "-ec", script, seconds=seconds)

    def send(self, machine: str, path: str, region: str, bucket: str, key: str) -> None:
        argv = ("python3", "-c", SEND, SCRIPTS, region, bucket, key, path)
        self.do(machine, "sending the snapshot to the bucket", *argv, seconds=TRANSFER_SECONDS)

    def fetch(self, machine: str, path: str, url: str) -> None:
        argv = ("python3", "-c", FETCH, path)
        what = "fetching the snapshot from the bucket"
        self.do(machine, what, *argv, seconds=TRANSFER_SECONDS, stdin=url.encode())

    def snapshot_status(self, machine: str, path: str) -> dict[str, Any]:
        """hash, revision, totalKey, totalSize of a snapshot file."""
        words = ("/usr/local/bin/etcdutl", "snapshot", "status", path, "--write-out=json")
        return dict(json.loads(self.do(machine, f"reading {path}", *words, seconds=TRANSFER_SECONDS)))

    def start(self, machine: str, *units: str) -> None:
        self.do(machine, f"starting {', '.join(units)}", "systemctl", "start", "--no-block", *units)

    def stop(self, machine: str, *units: str, seconds: float = 120) -> None:
        self.do(machine, f"stopping {', '.join(units)}", "systemctl", "stop", *units, seconds=seconds)

    def active(self, machine: str, unit: str) -> bool:
        return self.ask(machine, "systemctl", "is-active", unit).out.strip() == "active"

    def exists(self, machine: str, path: str) -> bool:
        return self.ask(machine, "test", "-e", path).code == 0

    def remove(self, machine: str, *paths: str) -> None:
        self.ask(machine, "sh", "-c", f"rm -rf -- {shlex.join(paths)}")


def side_by_side(work: Callable[[str], Result], machines: Iterable[str]) -> dict[str, Result]:
    """The same on several machines at once; the first error when all have ended."""
    names: Sequence[str] = list(machines)
    with ThreadPoolExecutor(max(1, len(names))) as pool:
        futures = {name: pool.submit(work, name) for name in names}
    return {name: future.result() for name, future in futures.items()}
