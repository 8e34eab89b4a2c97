"""One machine of the local cloud: starting it, running commands in it, giving it interfaces and volumes, ending it.

To be used inside the local cloud's namespace. A machine's folder has `disk` (its files, which
stay), `console.log` (what its init says) and `machine.json` (what it was started with).
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import network, root, systemctl
from .commands import PATH
from .network import Interface
from .waiting import readable
from .zygotes import ZYGOTE, ZygoteError

ENTER = ("--mount", "--net", "--uts", "--ipc", "--pid")
START_SECONDS = 20.0
STOP_SECONDS = 100.0
KILL_SECONDS = 10.0
# As a shell has it of what was killed: the machine ended meanwhile.
BROKEN_OFF = 137


class MachineError(Exception):
    """A machine did not start or end. The text says why."""


@dataclass(frozen=True)
class Live:
    """What a running machine holds on this side."""

    pid: int
    handle: int
    lifeline: int
    process: subprocess.Popen[bytes] | None = None  # where the first process is this one's child


@dataclass
class Machine:
    """A machine; its data lie in `folder` and are there for the next start.

    `addresses` have their prefix lengths; `router` is the file of the network namespace that it is wired to, None: the
    local cloud's own; `programs` are laid into /usr/local/bin by name; `volumes` are folders of the host by their path
    inside; `files` are put on its disk; `users` are the image's system users.
    """

    name: str
    folder: Path
    addresses: tuple[str, ...]
    router: Path | None = None
    hosts: str = ""
    programs: Mapping[str, Path] = field(default_factory=dict)
    volumes: dict[str, Path] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    users: tuple[str, ...] = ()
    live: Live | None = field(default=None, init=False)
    interfaces: dict[str, str] = field(default_factory=dict, init=False)

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def running(self) -> bool:
        return self.live is not None and not readable(self.live.handle, seconds=0)

    @property
    def pid(self) -> int:
        """The first process's number in the local cloud."""
        if self.live is None or not self.running:
            raise MachineError(f"The machine {self.name} is not running")
        return self.live.pid

    def unit_log(self, unit: str) -> Path:
        return self.disk / f"var/log/units/{unit}.log"

    def write_hosts(self, text: str) -> None:
        """Replaces /etc/hosts, also while the machine runs, in one step."""
        draft = self.disk / "etc/hosts.new"
        draft.write_text(f"127.0.0.1 localhost\n::1 localhost\n{text}")
        draft.replace(self.disk / "etc/hosts")

    def start(self) -> None:
        """Returns when init answers. Raises MachineError or NetworkError, and then nothing of it is left running."""
        if self.running:
            raise MachineError(f"The machine {self.name} is running already")
        self.let_go()
        (self.folder / "root").mkdir(parents=True, exist_ok=True)
        root.furnish(self.disk, self.files, self.users)
        (self.disk / "etc/hostname").write_text(self.name + "\n")
        self.write_hosts(self.hosts)
        spec = {
            "name": self.name,
            "programs": {name: str(path) for name, path in self.programs.items()},
            "volumes": {name: str(path) for name, path in self.volumes.items()},
            "folders": [str(path) for path in root.ours()],
        }
        (self.folder / "machine.json").write_text(json.dumps(spec))
        heard, write_end = os.pipe()
        lifeline, kept_end = os.pipe()
        try:
            self.live = self.launch(lifeline, write_end, kept_end)
        except BaseException:
            os.close(heard)
            os.close(kept_end)
            raise
        finally:
            os.close(lifeline)
            os.close(write_end)
        with os.fdopen(heard, "rb") as report:
            try:
                try:
                    self.plug(Interface(self.addresses))
                except network.NetworkError:
                    # What has ended by then says why itself.
                    self.await_ready(report.fileno())
                    raise
                self.await_ready(report.fileno())
            except BaseException:
                # Nothing may be left of a machine that did not come up, whatever stopped it, Ctrl-C too.
                self.kill()
                raise

    def launch(self, lifeline: int, ready: int, kept_end: int) -> Live:
        with self.console.open("ab") as console:
            try:
                pid, handle = ZYGOTE.first_process(self.folder, console.fileno(), lifeline, ready)
            except ZygoteError as error:
                raise MachineError(f"{self.name} did not come up: {error}") from None
        return Live(pid, handle, kept_end)

    def await_ready(self, descriptor: int) -> None:
        line = b""
        while not line.endswith(b"\n"):
            if not readable(descriptor, seconds=START_SECONDS):
                raise MachineError(f"{self.name} did not come up within {START_SECONDS:.0f} s. Its log: {self.console}")
            chunk = os.read(descriptor, 4096)
            if not chunk:
                raise MachineError(f"{self.name} did not come up. Its log: {self.console}")
            line += chunk
        if error := json.loads(line).get("error"):
            raise MachineError(f"{self.name} did not come up: {error}")

    def stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Stops its units in order and ends it; by force after so many seconds. False if it had to be forced."""
        if self.live is None:
            return True
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.live.handle, signal.SIGTERM)
        gentle = bool(readable(self.live.handle, seconds=seconds))
        self.kill()
        return gentle

    def kill(self) -> None:
        """Ends it at once, as a power cut does."""
        if self.live is None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.live.handle, signal.SIGKILL)
        # It ends only when the kernel has ended all others of its namespace.
        if not readable(self.live.handle, seconds=KILL_SECONDS):
            raise MachineError(f"Process {self.live.pid}, the first of {self.name}, does not end")
        if self.live.process:
            self.live.process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Forgets a machine that has ended."""
        for end in self.interfaces.values():
            network.unplug(end, self.router)
        self.interfaces.clear()
        if self.live:
            os.close(self.live.handle)
            os.close(self.live.lifeline)
            self.live = None

    def plug(self, interface: Interface) -> None:
        """A card, also while it runs. The first leads to everything; others answer by themselves."""
        number = len(self.interfaces)
        self.interfaces[interface.name] = network.plug(self.pid, interface, self.router, number=number)

    def unplug(self, name: str) -> None:
        network.unplug(self.interfaces.pop(name), self.router)

    def boot(self, script: str) -> int:
        """Runs a script of the machine's as its root, what it says on the console, to its end. Its exit status."""
        try:
            code, out, _ = systemctl.ask("boot", [script], f"/proc/{self.pid}/root{systemctl.SOCKET}", wait=True)
        except (OSError, ValueError):
            return BROKEN_OFF
        return int(out or code)

    def attach(self, path: str, source: Path) -> None:
        """Lays the folder `source` of this side at `path` inside, while it runs."""
        self.inside("attach", path, str(source))
        self.volumes[path] = source

    def detach(self, path: str) -> None:
        """Takes it away again. Raises MachineError while it is in use."""
        self.inside("detach", path)
        self.volumes.pop(path, None)

    def inside(self, *words: str) -> None:
        argv = [sys.executable, "-S", "-E", "-m", "local.machines.volume", str(self.pid), *words]
        done = subprocess.run(argv, cwd=root.REPOSITORY, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise MachineError(f"{self.name}: {done.stderr.strip()}")

    def exec(self, argv: Sequence[str], timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command inside, as root in /, and gives what it said."""
        command = enter_command(self.pid, argv)
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)


def enter_command(pid: int, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in the machine with first process `pid`; from inside the local cloud."""
    environment = [f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", f"TERM={os.environ.get('TERM', 'dumb')}"]
    return ["nsenter", f"--target={pid}", *ENTER, "--", "env", "-i", *environment, *argv]
