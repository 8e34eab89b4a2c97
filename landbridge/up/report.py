"""What a run of `up`, `preview` or `destroy` says at its end, to people or to machines, and its exit code."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.text import Text

from fleet import shapes
from fleet.model import Fleet
from landbridge import age as dates
from landbridge import render
from landbridge.errors import CHANGED, DONE, FAILED, INTERRUPTED, ConsentError
from landbridge.output import Output
from landbridge.prices import age, cost
from landbridge.prices.bought import bought
from stacks.catalogue import unserved

from .progress import Screen
from .run import FleetRun


def old_shapes(fleet: Fleet) -> list[Text]:
    """How old what machine types have is, where that is too old; prices tell more, for they change each day."""
    found = [shapes.listed(fleet, one.region, one.instance_type) for one in bought(fleet)]
    line, oldest = dates.line(dates.SHAPES, found, age.today()), dates.oldest(found)
    return [line] if line and oldest and dates.old(oldest, age.today()) else []


class Report:
    """Of one run of one command."""

    def __init__(self, command: str, run: FleetRun, out: Output) -> None:
        self.command, self.run, self.out = command, run, out
        self.screen = Screen(run.reports, run.notes, out.progress)
        self.begun = time.monotonic()

    def plan(self) -> None:
        """What was previewed: per stack, and the blast radius over all. Machines read it from the document."""
        if self.out.as_json:
            return
        console = self.out.console
        for report in self.run.pending:
            console.print(f"\n[bold]{report.stack}[/]")
            if self.run.how.diff:
                console.print(report.diff.strip(), markup=False, soft_wrap=True)
            else:
                render.steps(report, console)
        console.print()
        console.print(render.radius(self.run.blast))
        render.losses(self.run.blast, console)

    def price(self) -> None:
        """What the fleet's machines cost. Machines read it from the document."""
        if self.command == "destroy" or self.out.as_json:
            return
        fleet = self.run.world.fleet
        for line in (*cost.lines(cost.of_fleet(fleet), age.today()), *old_shapes(fleet)):
            self.out.console.print(line, soft_wrap=True)
        if self.run.quotas:
            self.run.quotas.show(self.out.console)

    @contextmanager
    def confirming(self) -> Iterator[None]:
        """Shows what was previewed, for the body to ask about; with a refusal machines get it, too."""
        self.plan()
        self.price()
        try:
            yield
        except ConsentError as refusal:
            refusal.document = self.document(refusal.code)
            raise

    def end(self, *, expect_no_changes: bool = False) -> int:
        """The last screen, or the document for machines; returns the exit code."""
        code = self.code(expect_no_changes=expect_no_changes)
        if self.out.as_json:
            self.out.document(self.document(code))
            return code
        reports, console = self.run.reports.values(), self.out.console
        if self.command == "preview":
            if self.run.pending:
                self.plan()
            self.price()
        console.print()
        console.print(render.summary(reports))
        if self.command == "up":
            render.standing(reports, self.run.world, console)
            console.print()
            for left_out in unserved(self.run.world.fleet):
                console.print(left_out, style="dim", markup=False, soft_wrap=True)
            for address in render.asked(reports):
                console.print(address, style="yellow", markup=False, soft_wrap=True)
        render.warnings(reports, console)
        for refusal in self.run.refusals:
            console.print(f"Refused: {refusal}", style="red", markup=False, soft_wrap=True)
        render.failures(reports, self.run.place, console)
        console.print(f"\n{self.verdict(code)} in {self.seconds:.1f} s.")
        return code

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def code(self, *, expect_no_changes: bool) -> int:
        if self.run.interrupted:
            return INTERRUPTED
        if self.run.failed or self.run.refusals:
            return FAILED
        return CHANGED if expect_no_changes and self.run.changed else DONE

    def verdict(self, code: int) -> str:
        if code == INTERRUPTED:
            return "Interrupted"
        if code == FAILED:
            return "Failed"
        if not self.run.changed:
            return "Nothing changed" if self.command != "preview" else "Nothing would change"
        return "Previewed" if self.command == "preview" else "Done"

    def document(self, code: int) -> dict[str, Any]:
        fleet = self.run.world.fleet
        priced = {} if self.command == "destroy" else {"cost": cost.of_fleet(fleet).as_json(age.today())}
        return {
            "command": self.command,
            "fleet": fleet.fleet,
            "fleet_file": str(self.run.world.path),
            "world": self.run.place.world,
            "exit_code": code,
            "seconds": round(self.seconds, 2),
            "notes": self.run.notes,
            "blast_radius": self.run.blast.as_json(),
            "refusals": self.run.refusals,
            **priced,
            **({"quotas": self.run.quotas.as_json()} if self.run.quotas else {}),
            "stacks": render.as_json(self.run.reports.values(), self.run.place),
        }
