"""The `pulumi` command as the Automation API starts it: in a process group of its own, logged, with all its events."""

import copy
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

from pulumi import automation
from pulumi.automation import CommandResult
from pulumi.automation.errors import InvalidVersionError, create_command_error

import installation
from landbridge import calls
from landbridge.errors import UsageError

OnLine = Callable[[str], Any]
# After the command has ended its last events may still be on their way.
FIRST_EVENT_SECONDS = 0.3
LAST_EVENT_SECONDS = 5.0
# Of these the output is kept. What others print may hold secrets: an exported state does.
LOGGED = {"preview", "up", "destroy", "refresh"}


class PulumiCommand(automation.PulumiCommand):
    """One command for one stack: what it prints goes to `log`, `flags` are added to a subcommand's own."""

    def __init__(self, root: str | None) -> None:
        """`root` is the folder over bin/pulumi, None for the PATH. Raises UsageError when the version is wrong."""
        try:
            super().__init__(root=root)
            self.command = shutil.which(self.command) or self.command
        except InvalidVersionError as error:
            raise UsageError(f"{error} Run {installation.SETUP}.") from None
        self.log: Path | None = None
        self.flags: dict[str, list[str]] = {}
        self.process: subprocess.Popen[str] | None = None
        self.first_event = threading.Event()
        self.last_event = threading.Event()

    def for_stack(self, log: Path) -> Self:
        """The same command, found and checked already, with a log of its own."""
        other = copy.copy(self)
        other.log, other.flags, other.process = log, {}, None
        other.first_event, other.last_event = threading.Event(), threading.Event()
        return other

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnLine | None = None,
        on_error: OnLine | None = None,
    ) -> CommandResult:
        """Called by the API. Raises CommandError when the command fails."""
        self.first_event.clear()
        self.last_event.clear()
        # A group of its own: the terminal's Ctrl-C must reach the engine once, through `interrupt`, not twice.
        self.process = subprocess.Popen(
            [self.command, "--non-interactive", *args, *self.flags.get(args[0], ())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=self.environment(additional_env),
            encoding="utf-8",
            errors="replace",
            process_group=0,
        )
        output_log = self.log if args[0] in LOGGED else None
        result = gather(self.process, (output_log, on_output), (self.log, on_error))
        self.process = None
        if "--event-log" in args and self.first_event.wait(FIRST_EVENT_SECONDS):
            self.last_event.wait(LAST_EVENT_SECONDS)
        if result.code != 0:
            raise create_command_error(result)
        return result

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Ours; first on the PATH are the command's folder, with its language host, and our Python's, for plugins."""
        path = os.pathsep.join([str(Path(self.command).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {**os.environ, **more, "PATH": path, "PULUMI_AUTOMATION_API": "true"}

    def interrupt(self) -> None:
        """Asks the running command to finish what it has in hand and stop; asked twice, it stops at once."""
        if process := self.process:
            process.send_signal(signal.SIGINT)


def gather(
    process: "subprocess.Popen[str]",
    output: tuple[Path | None, OnLine | None],
    error: tuple[Path | None, OnLine | None],
) -> CommandResult:
    """What the process prints until it ends; `output` and `error` say into which log and to whom lines go, too."""
    lines: tuple[list[str], list[str]] = ([], [])

    def read(stream: IO[str] | None, captured: list[str], log: Path | None, callback: OnLine | None) -> None:
        assert stream is not None
        for line in stream:
            captured.append(line.rstrip())
            if log:
                append(log, captured[-1])
                calls.detail(log.stem, captured[-1])
            if callback:
                callback(captured[-1])

    aside = threading.Thread(target=read, args=(process.stderr, lines[1], *error))
    with process:
        aside.start()
        read(process.stdout, lines[0], *output)
        aside.join()
    return CommandResult("\n".join(lines[0]), "\n".join(lines[1]), process.returncode)


def append(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(line + "\n")
