"""Follows the kernel's log and the mounts of this node, and reports what it finds.

Who speaks is the node itself, with its kubelet's certificate. A node that does well says nothing, and asks nothing.
docs/decisions/0063-node-findings.md says why.
"""

import json
import os
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import kernel_lines
import node_looks
from kernel_lines import Finding
from kernel_rows import WELL
from machine import say, write
from node_reports import Reports, Wrong
from own_node import client

from kube_http import Answer

LOG = Path("/dev/kmsg")
STATE = Path("/run/landbridge/node-findings.json")
# Longer than the kernel takes from saying that it makes a file system read-only to doing so.
LOOK_SECONDS = 15.0
# A record has 8 KiB at most (PRINTK_MESSAGE_MAX); a read gives one.
READ_BYTES = 16384


class Log:
    """Records of the kernel's log from its beginning. It may be any file that has lines in their form."""

    def __init__(self, path: Path) -> None:
        self.file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.rest = b""

    def records(self) -> Iterator[kernel_lines.Record]:
        """Those that are there now."""
        while text := self._read():
            *lines, self.rest = (self.rest + text).split(b"\n")
            for line in lines:
                if one := kernel_lines.record(line.decode(errors="replace")):
                    yield one

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self.file, READ_BYTES)
            except BlockingIOError:
                return b""
            except BrokenPipeError:
                # Some were overwritten before they were read: the next read gives the oldest that is left.
                say("the kernel's log was faster than its reader")

    def wait(self, seconds: float) -> None:
        """Until there is more, or so long."""
        waiting = select.poll()
        waiting.register(self.file, select.POLLIN)
        waiting.poll(max(0.0, seconds) * 1000)


class Findings:
    """From the log and the looks to reports. `looks` are conditions that somebody looks after, and how."""

    def __init__(self, log: Log, reports: Reports, state: Path) -> None:
        self.log, self.reports, self.state = log, reports, state
        self.read, self.kept, self.begun = -1, -1, False
        self.looks: dict[str, Callable[[node_looks.Known], node_looks.Wrong]] = {
            "ReadonlyFilesystem": node_looks.read_only,
            "XfsShutdown": node_looks.shut_down,
            "NFSUnavailable": node_looks.silent_servers,
            "NetworkLinkDown": node_looks.links_down,
            "KernelDeadlock": node_looks.hung,
            "NTPProblem": node_looks.Clock().look,
            "ServiceUnwell": node_looks.services,
        }
        self.remember()

    def remember(self) -> None:
        """What this start of the machine has reported already; /run is empty after another one."""
        try:
            told = json.loads(self.state.read_text())
            self.read = self.kept = int(told["sequence"])
            for name, subjects in told["wrong"].items():
                self.reports.wrong[name] = {subject: Wrong(*one) for subject, one in subjects.items()}
            self.reports.changed, self.reports.since = told["changed"], told["since"]
            self.begun = True
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            say(f"{self.state} can't be read, so all is reported again: {error}")

    def keep(self) -> None:
        """Up to the last line before the first that the API does not know of."""
        self.kept = min([self.read, *(number - 1 for number in self.reports.unsaid())])
        self.state.parent.mkdir(parents=True, exist_ok=True)
        of = self.reports
        told = {"sequence": self.kept, "wrong": of.wrong, "changed": of.changed, "since": of.since}
        write(self.state, json.dumps(told))

    def lines(self) -> None:
        """What came since. The time is the line's, by the clock as it goes now."""
        for one in self.log.records():
            if one.sequence <= self.read:
                continue
            self.read = one.sequence
            started = time.time() - time.monotonic()
            for found in kernel_lines.findings(one.text):
                self.reports.take(found, started + one.seconds, one.sequence)

    def look(self) -> None:
        now = time.time()
        for name, by in self.looks.items():
            known = self.reports.wrong.get(name, {})
            try:
                wrong = by(known)
            except (OSError, ValueError) as error:
                say(f"{name} can't be looked at: {error}")
                continue
            fresh = [one for one in wrong.values() if one is not None]
            for one in [*fresh, *well(name, known, wrong)]:
                self.reports.take(one, now)

    def say(self) -> None:
        """What is due. At the first time it looks what its Node says of an earlier start."""
        if not self.begun and time.monotonic() >= self.reports.resting_until:
            try:
                self.reports.begin()
                self.begun = True
            except (Answer, OSError) as error:
                self.reports.rest(error)
                return
            self.keep()
        if self.begun and self.reports.flush():
            self.keep()

    def run(self) -> None:
        """For ever."""
        following = 0.0
        while True:
            self.lines()
            if time.monotonic() >= following:
                self.look()
                following = time.monotonic() + LOOK_SECONDS
            self.say()
            due = self.reports.next() if self.begun else self.reports.resting_until
            self.log.wait(min(following, due) - time.monotonic())


def well(condition: str, known: node_looks.Known, wrong: node_looks.Wrong) -> Iterator[Finding]:
    """What was wrong and is not any more."""
    for subject in sorted({*known} - wrong.keys()):
        reason, message = WELL[condition]
        yield Finding(reason, subject, f"{message}: {subject}", condition, well=True)


def main() -> None:
    Findings(Log(LOG), Reports(client(), os.environ["NODE_NAME"]), STATE).run()


if __name__ == "__main__":
    main()
