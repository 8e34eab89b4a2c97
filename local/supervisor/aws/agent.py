"""Systems Manager's agent of one machine: runs commands as root, side by side, and tells how they end.

As the agent does, it keeps script and output in /var/lib/amazon/ssm of the machine, which only root may read.
"""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.machines.machine import Machine, enter_command

PLACE = "var/lib/amazon/ssm"
# Of the output; how many characters AWS keeps of it is the local AWS's business.
MOST_BYTES = 100_000
# A machine's last process ends a moment before the machine has.
GONE_SECONDS = 0.5


class Agent:
    """`tell` speaks to the local AWS."""

    def __init__(self, instance: str, tell: Callable[[str, Any], None]) -> None:
        self.instance, self.tell = instance, tell
        self.known: set[str] = set()
        self.stopped: set[str] = set()
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def sync(self, machine: Machine, wanted: list[dict[str, Any]]) -> None:
        """Starts what is new and kills what was cancelled."""
        for one in wanted:
            if one["stop"]:
                self.stopped.add(one["id"])
                if process := self.running.get(one["id"]):
                    kill(process)
            elif one["id"] not in self.known:
                self.known.add(one["id"])
                threading.Thread(target=self.run, args=(machine, one), daemon=True).start()

    def run(self, machine: Machine, one: dict[str, Any]) -> None:
        """A command from its start to its end. One whose machine ends is never told of again."""
        folder = machine.disk / PLACE / self.instance / one["id"]
        live = machine.live
        if live is None:
            return
        with contextlib.closing(Handle(live.handle)) as handle:
            command_id = {"id": one["id"], "instance": self.instance}
            self.tell("command", {**command_id, "state": "started"})
            (machine.disk / PLACE).mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(parents=True, exist_ok=True)
            script = folder / "_script.sh"
            script.write_text(one["script"])
            script.chmod(0o700)
            there = f"/{script.relative_to(machine.disk)}"
            line = f"cd {shlex.quote(one['folder'] or '/')} && exec {there}"
            # Without "#!" a file is a shell's: only a shell runs it.
            argv = ["sh", "-c", line if one["script"].startswith("#!") else line.replace("exec", "exec sh", 1)]
            with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
                command = enter_command(live.pid, argv)
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
                )
            self.running[one["id"]] = process
            state = self.ended(process, one)
            del self.running[one["id"]]
            code = process.returncode
            code = 128 - code if code < 0 else code
            if code > 128 and handle.gone(GONE_SECONDS):
                return
            output = {name: read(folder / name) for name in ("stdout", "stderr")}
            self.tell(
                "command",
                {**command_id, "state": state, "code": code, "out": output["stdout"], "err": output["stderr"]},
            )

    def ended(self, process: subprocess.Popen[bytes], one: dict[str, Any]) -> str:
        """Waits for the end, which comes by force when the time is over."""
        if one["id"] in self.stopped:  # before it had begun
            kill(process)
        try:
            process.wait(one["seconds"])
        except subprocess.TimeoutExpired:
            kill(process)
            process.wait()
            return "late"
        return "stopped" if one["id"] in self.stopped else "ended"


class Handle:
    """Tells whether a machine has gone; its own copy, since the machine closes the other."""

    def __init__(self, handle: int) -> None:
        self.handle = os.dup(handle)

    def gone(self, seconds: float) -> bool:
        return bool(select.select([self.handle], [], [], seconds)[0])

    def close(self) -> None:
        os.close(self.handle)


def kill(process: subprocess.Popen[bytes]) -> None:
    """All that it started, too, unless that left its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def read(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(MOST_BYTES).decode(errors="replace")
