"""Init's side of `systemctl`: a socket; a connection has one request and its answer, words with zeros between."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import logs, spawn
from .commands import PATH
from .graph import FOLDER
from .manager import Manager
from .runner import GOOD, Runner
from .units import UnitError

SOCKET = Path("/run/landbridge-init.sock")
TAIL = 10
# systemctl's exit statuses (LSB's).
OK, FAILED, NOT_ACTIVE, UNKNOWN = 0, 1, 3, 4
DOTS = {"active": "●", "failed": "✗", "inactive": "○"}


class Reply:
    """One connection, answered once."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection: socket.socket | None = connection

    def __call__(self, code: int, out: str = "", err: str = "") -> None:
        connection, self.connection = self.connection, None
        if connection is None:
            return
        # Whoever asked may have gone; a small answer fits the socket's buffer.
        with contextlib.suppress(OSError), connection:
            connection.sendall("\0".join([str(code), *(text.replace("\0", "") for text in (out, err))]).encode())


class Control:
    """Carries out what `systemctl` asks for."""

    def __init__(self, manager: Manager, path: Path = SOCKET) -> None:
        self.manager = manager
        path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        self.socket.bind(str(path))
        os.umask(old)
        self.socket.listen(64)
        manager.loop.watch(self.socket.fileno(), self.accept)

    def accept(self) -> None:
        connection, _ = self.socket.accept()
        connection.settimeout(1)
        try:
            word, wait, *names = connection.recv(65536).decode().split("\0")
            verb = VERBS[word]
        except (OSError, ValueError, KeyError):
            return connection.close()
        reply = Reply(connection)
        try:
            verb(self, names, reply)
        except UnitError as error:
            reply(FAILED, err=str(error))
        if not wait:
            reply(OK)
        return None

    def boot(self, names: list[str], reply: Reply) -> None:
        """Runs a script as cloud-init does, on the console; answers with its exit status. For the supervisor."""
        console = sys.stderr.fileno()
        given = spawn.Context(names[0], names[:1], {**BOOT, "PATH": PATH}, console, console)
        pid, broken = spawn.start(given)
        if broken:
            logs.console(f"{names[0]}: {broken}")
        self.manager.loop.on_exit(pid, lambda status: reply(OK, str(status)))

    def known(self, name: str) -> Runner | None:
        return self.manager.runner(name) if name in self.manager.graph.units else None

    def daemon_reload(self, _names: list[str], reply: Reply) -> None:
        self.manager.reload()
        reply(OK)

    def gather(self, names: list[str], reply: Reply, what: str) -> Callable[[str], None]:
        """Answers when as many jobs as there are names have ended."""
        outcomes: list[str] = []

        def ended(how: str) -> None:
            outcomes.append(how)
            if len(outcomes) == len(names):
                bad = sorted({how for how in outcomes if how not in GOOD})
                listed = ", ".join(names)
                hint = (
                    f"Job for {listed} {what} came out as: {', '.join(bad)}. See `systemctl status {' '.join(names)}`."
                )
                reply(FAILED if bad else OK, err=hint if bad else "")

        return ended

    def start(self, names: list[str], reply: Reply) -> None:
        self.manager.enqueue_start(names, self.gather(names, reply, "start"))

    def stop(self, names: list[str], reply: Reply) -> None:
        self.check_known(names)
        self.manager.enqueue_stop(names, self.gather(names, reply, "stop"))

    def restart(self, names: list[str], reply: Reply) -> None:
        self.manager.restart(names, self.gather(names, reply, "restart"))

    def check_known(self, names: list[str]) -> None:
        if unknown := [name for name in names if name not in self.manager.graph.units]:
            raise UnitError([f"Unit {name} not found." for name in unknown])

    def is_active(self, names: list[str], reply: Reply) -> None:
        states = self.states(names)
        reply(OK if "active" in states else NOT_ACTIVE, "\n".join(states))

    def is_failed(self, names: list[str], reply: Reply) -> None:
        states = self.states(names)
        reply(OK if "failed" in states else FAILED, "\n".join(states))

    def states(self, names: list[str]) -> list[str]:
        return [runner.state if (runner := self.known(name)) else "inactive" for name in names]

    def status(self, names: list[str], reply: Reply) -> None:
        names = names or [name for name, r in sorted(self.manager.runners.items()) if r.state != "inactive"]
        runners = [self.known(name) for name in names]
        missing = [f"Unit {name} could not be found." for name, r in zip(names, runners, strict=True) if not r]
        found = [runner for runner in runners if runner]
        up = all(runner.state in ("active", "activating") for runner in found)
        code = UNKNOWN if missing else OK if up else NOT_ACTIVE
        reply(code, "\n\n".join(self.describe(runner) for runner in found), "\n".join(missing))

    def describe(self, runner: Runner) -> str:
        unit = runner.unit
        outcome = f" (Result: {runner.result})" if runner.result != "success" else ""
        file = self.manager.folder / runner.name
        lines = [
            f"{DOTS.get(runner.state, '●')} {runner.name} - {unit['Description'] or runner.name}",
            f"     Loaded: loaded ({file if file.exists() else 'no file'})",
            f"     Active: {runner.state} ({runner.sub}){outcome} since {runner.since.isoformat(timespec='seconds')}",
            *(f"       Docs: {place}" for place in unit["Documentation"]),
            *(f"     {line}" for line in runner.details()),
        ]
        if runner.name in self.manager.logs.open:
            lines += ["", *self.manager.logs.of(runner.name).tail(TAIL)]
        return "\n".join(lines)

    def list_units(self, names: list[str], reply: Reply) -> None:
        rows = [("UNIT", "ACTIVE", "SUB", "DESCRIPTION")]
        for name, runner in sorted(self.manager.runners.items()):
            if (not names and runner.state != "inactive") or name in names:
                rows.append((name, runner.state, runner.sub, runner.unit["Description"]))
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        line = "  ".join(f"{{:<{width}}}" for width in widths) + "  {}"
        reply(OK, "\n".join(line.format(*row).rstrip() for row in rows))

    def reset_failed(self, names: list[str], reply: Reply) -> None:
        self.check_known(names)
        for name in names or list(self.manager.runners):
            self.manager.runner(name).reset()
        reply(OK)

    def enable(self, names: list[str], reply: Reply) -> None:
        """Lays the links that systemd would; WantedBy= counts here without them."""
        self.check_known(names)
        messages = []
        for name in names:
            unit = self.manager.graph.units[name]
            for kind, directive in (("wants", "WantedBy"), ("requires", "RequiredBy")):
                for target in unit[directive]:
                    link = FOLDER / f"{target}.{kind}" / name
                    link.parent.mkdir(exist_ok=True)
                    if not link.is_symlink():
                        link.symlink_to(FOLDER / name)
                        messages.append(f"Created symlink {link} → {FOLDER / name}.")
        reply(OK, err="\n".join(messages))

    def disable(self, names: list[str], reply: Reply) -> None:
        """Takes the links away, of units too whose files are gone."""
        gone = [link for name in names for link in FOLDER.glob(f"*/{name}") if link.is_symlink()]
        for link in gone:
            link.unlink()
        reply(OK, err="\n".join(f"Removed {link}." for link in gone))


# What cloud-init gives user-data.
BOOT = {"HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}
VERBS: dict[str, Callable[[Control, list[str], Reply], Any]] = {
    "boot": Control.boot,
    "daemon-reload": Control.daemon_reload,
    "start": Control.start,
    "stop": Control.stop,
    "restart": Control.restart,
    "is-active": Control.is_active,
    "is-failed": Control.is_failed,
    "status": Control.status,
    "list-units": Control.list_units,
    "reset-failed": Control.reset_failed,
    "enable": Control.enable,
    "disable": Control.disable,
}
