"""Machines of the lab: namespaces of their own for network, mounts and processes, without a name on the host.

Each is kept by one process that ends when its standard input does. So when the test run ends, however it ends, the
kernel ends everything inside and takes the interfaces away: there is nothing to clean up, and two labs never clash.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO

# What a machine writes to its /etc or /usr/local/lib stays in its own memory, above the host's files.
BIRTH = """
set -e
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
for path in /etc /usr/local/lib; do
    mkdir -p /run/over$path/upper /run/over$path/work
    mount -t overlay overlay -o lowerdir=$path,upperdir=/run/over$path/upper,workdir=/run/over$path/work $path
done
ip link set lo up
echo born
exec cat > /dev/null
"""
UNSHARE = ("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
RUN_SECONDS = 15.0


class LabError(Exception):
    """A machine can't be made or does not do what it is told: which, what and what it said."""


class Machine:
    """One, from its birth to `close`."""

    def __init__(self, name: str, logs: Path) -> None:
        self.name, self.log = name, logs / f"{name}.log"
        self._log = self.log.open("ab")
        self._keeper = subprocess.Popen(
            [*UNSHARE, "sh", "-c", BIRTH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline() != b"born\n":
            raise LabError(f"{name}: no namespace could be made: {self.log.read_text().strip()}")
        children = Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text()
        self.pid = int(children)
        self.root = Path(f"/proc/{self.pid}/root")

    def words(self, *words: str, seconds: float = RUN_SECONDS) -> list[str]:
        # `nsenter` leaves its child alone when it is ended, `timeout` does not.
        enter = ("nsenter", "-t", str(self.pid), "--net", "--mount", "--pid", "--uts", "--ipc", "--root", "--wd=/")
        return [*enter, "timeout", "-k", "1", f"{seconds:g}", *words]

    def run(
        self, *words: str, seconds: float = RUN_SECONDS, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> str:
        """What it says on both outputs. Raises LabError when it fails or takes too long."""
        done = self.attempt(*words, seconds=seconds, text=text, env=env)
        if done.returncode:
            last = done.stdout.strip()[-800:]
            raise LabError(f"{self.name}: {' '.join(words)[:200]} failed ({done.returncode}): {last}")
        return done.stdout

    def attempt(
        self, *words: str, seconds: float = RUN_SECONDS, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*words, seconds=seconds),
            input=text or "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env={**os.environ, **(env or {})},
        )

    def start(
        self,
        *words: str,
        seconds: float,
        env: Mapping[str, str] | None = None,
        out: int | IO[bytes] | None = None,
    ) -> "subprocess.Popen[bytes]":
        """In the background, for so long at most. Its output goes to the machine's log if nowhere else."""
        return subprocess.Popen(
            self.words(*words, seconds=seconds),
            stdin=subprocess.PIPE,
            stdout=out if out is not None else self._log,
            stderr=self._log,
            env={**os.environ, **(env or {})},
        )

    def ip(self, *lines: str) -> None:
        self.run("ip", "-batch", "-", text="\n".join(lines) + "\n")

    def nft(self, text: str) -> None:
        self.run("nft", "-f", "-", text=text)

    def sysctl(self, *settings: str) -> None:
        self.run("sysctl", "-qw", *settings)

    def write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            file = self.root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text(errors="replace")

    def processes(self, sign: str) -> list[int]:
        """The machine's own numbers of its processes whose command line has this in it."""
        found = []
        for folder in (self.root / "proc").iterdir():
            if folder.name.isdigit() and folder.name != "1":
                try:
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:
                    continue
                if sign in line and not line.startswith("timeout "):
                    found.append(int(folder.name))
        return found

    def kill(self, pids: Iterable[int], signal: str = "KILL") -> None:
        """By the machine's own numbers."""
        numbers = [str(pid) for pid in pids]
        if numbers:
            self.run("kill", "-s", signal, *numbers)

    def close(self) -> None:
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait(10)
        self._log.close()


def joined(one: Machine, device: str, other: Machine, device_there: str) -> None:
    """A cable between two machines, up at both ends."""
    words = f"link add {device} netns {one.pid} type veth peer name {device_there} netns {other.pid}"
    subprocess.run(["ip", *words.split()], check=True, timeout=RUN_SECONDS)
    one.ip(f"link set {device} up")
    other.ip(f"link set {device_there} up")


def moved(one: Machine, device: str, other: Machine, name: str) -> None:
    """A device from one machine to another. The host's own numbers of processes hold only outside of them."""
    words = f"-t {one.pid} --net ip link set {device} netns {other.pid} name {name}"
    subprocess.run(["nsenter", *words.split()], check=True, timeout=RUN_SECONDS)


def awaited(what: str, true: Callable[[], bool], seconds: float, every_seconds: float = 0.2) -> float:
    """Seconds until `true` was. Raises LabError when that takes too long."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > seconds:
            raise LabError(f"{what}: not within {seconds:g} s")
        time.sleep(every_seconds)
    return time.monotonic() - begun
