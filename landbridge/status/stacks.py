"""What is known of each stack: its last update, how many resources, and how the cloud differs from them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pulumi.automation import CommandError, StackNotFoundError
from rich.console import Console
from rich.text import Text

from landbridge import render, tables
from landbridge.engine import failures, locks
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import StackReport, Step, short
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from landbridge.up import recovery, schedule
from stacks.catalogue import PROJECT

COLOURS = {"succeeded": "green", "interrupted": "yellow"}


@dataclass
class StackStatus:
    """One stack. `at` and `result` are of its last update, None if there was none; so is `drift` if not asked for."""

    stack: str
    at: datetime | None = None
    kind: str = ""
    result: str = "never up"
    resources: int = 0
    interrupted: int = 0
    held_by: str = ""
    drift: list[str] | None = None


class Looked:
    """A look at the chosen stacks, side by side."""

    def __init__(self, stacks: Sequence[str], place: Place, command: PulumiCommand) -> None:
        self.place = place
        self.engines = {name: StackEngine(name, place, command) for name in stacks}
        self.reports = {name: StackReport(name) for name in stacks}
        self.stacks = {name: StackStatus(name) for name in stacks}

    @property
    def failed(self) -> bool:
        return any(report.phase == "failed" for report in self.reports.values())

    @property
    def found(self) -> dict[str, list[str] | None]:
        """How the cloud differs from each stack that holds anything; None where that is not known, or is changing."""
        return {
            name: None if one.held_by else one.drift
            for name, one in self.stacks.items()
            if one.resources or self.reports[name].phase == "failed"
        }

    def look(self, *, drift: bool) -> None:
        schedule.run(dict.fromkeys(self.stacks, ()), lambda name: self.tell(name, drift=drift))

    def tell(self, name: str, *, drift: bool) -> bool:
        """One stack; what is wrong stands in its report."""
        report = self.reports[name]
        report.enter("look")
        try:
            self.look_at(name, drift=drift)
        except StackNotFoundError:
            report.enter("unchanged")
        except (CommandError, LandbridgeError) as error:
            self.stacks[name].result = "not known"
            report.problems = failures.worth_telling(report, error, self.place)
            report.enter("failed")
        else:
            report.enter("done")
        return True

    def look_at(self, name: str, *, drift: bool) -> None:
        engine, status, report = self.engines[name], self.stacks[name], self.reports[name]
        state = engine.state()
        if state is None:
            return
        last = engine.last_update()
        if last is not None:
            status.at, status.kind, status.result = last.end_time or last.start_time, last.kind, last.result
        status.resources = recovery.resources(state)
        status.interrupted = len(recovery.pending(state))
        live = [lock for lock in locks.locks(self.place.state_folder, PROJECT, name) if not locks.stale(lock)]
        status.held_by = str(live[0]) if live else ""
        if drift and status.resources:
            engine.preview_refresh(report.hear)
            status.drift = [differs(step) for step in report.drift]

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {**asdict(self.stacks[n]), "errors": [p._asdict() for p in s.problems]} for n, s in self.reports.items()
        ]

    def show(self, console: Console) -> None:
        table = tables.plain_table("stack", "last update", "", "resources", "drift", right=["resources"])
        for status in self.stacks.values():
            when = f"{status.at.astimezone():%Y-%m-%d %H:%M:%S}" if status.at else ""
            table.add_row(
                Text(status.stack, style="bold"), when, verdict(status), str(status.resources), drifted(status)
            )
        console.print(table)
        for status in self.stacks.values():
            for line in status.drift or ():
                console.print(Text.assemble((f"{status.stack}: ", "bold yellow"), line))
        render.failures(self.reports.values(), self.place, console)


def differs(step: Step) -> str:
    what = "is gone" if step.verb == "deleted" else f"differs in {', '.join(step.changed) or 'something'}"
    return f"{short(step.type)} {step.name} {what}"


def verdict(status: StackStatus) -> Text:
    if status.held_by:
        return Text(f"being updated by {status.held_by}", style="cyan")
    if status.interrupted:
        return Text(f"interrupted: {status.interrupted} operations have no end", style="red")
    if status.at is None:
        return Text(status.result, style="dim")
    return Text(f"{status.kind} {status.result}", style=COLOURS.get(status.result, "red"))


def drifted(status: StackStatus) -> Text:
    if status.drift is None:
        return Text("not asked", style="dim")
    return Text(f"{len(status.drift)} differ", style="red") if status.drift else Text("none", style="green")
