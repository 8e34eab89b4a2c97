"""What a run looks like while it runs: a live table on a terminal, lines with the time elsewhere."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from landbridge.engine.stack_report import ENDED, Phase, StackReport

LOOK_SECONDS = 0.1
HEARTBEAT_SECONDS = 10.0

# Phase → sign, colour, words.
STYLES: Mapping[Phase, tuple[str, str, str]] = {
    "waiting": ("·", "dim", "waiting"),
    "preview": ("", "cyan", "preview"),
    "resume": ("", "yellow", "clearing up"),
    "update": ("", "cyan", "update"),
    "bootstrap": ("", "cyan", "boot"),
    "joining": ("", "cyan", "nodes join"),
    "destroy": ("", "red", "destroy"),
    "look": ("", "cyan", "look"),
    "done": ("✓", "green", "done"),
    "unchanged": ("✓", "green", "unchanged"),
    "failed": ("✗", "red", "failed"),
    "stopped": ("✗", "yellow", "stopped"),
    "skipped": ("-", "yellow", "skipped"),
}


class Screen:
    """The progress of one command, over all its phases. `notes` may grow meanwhile and are told once."""

    def __init__(self, reports: Mapping[str, StackReport], notes: Sequence[str], console: Console) -> None:
        self.reports, self.notes, self.console = reports, notes, console
        self.lines = PlainLines(reports, notes, console)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows the reports for as long as the body runs."""
        if not self.console.is_terminal:
            with self.lines.telling():
                yield
            return
        # What stays on the screen is the caller's to print: tables, not the last frame.
        view = LiveView(self.reports, self.notes, self.lines.notes_reported)
        with Live(view, console=self.console, refresh_per_second=8, transient=True):
            yield
        self.lines.tell_notes()


class LiveView:
    """A line a stack: sign, phase, bar, resources, what is worked on, seconds."""

    def __init__(self, reports: Mapping[str, StackReport], notes: Sequence[str], notes_shown: int) -> None:
        self.reports, self.notes, self.notes_shown = reports, notes, notes_shown
        self.spinner = Spinner("dots", style="cyan")

    def __rich__(self) -> RenderableType:
        table = Table.grid(padding=(0, 2), expand=True)
        for ratio in (None, None, None, None, None, 1, None):
            table.add_column(ratio=ratio, no_wrap=True, overflow="ellipsis")
        for report in self.reports.values():
            table.add_row(*self.row(report))
        return Group(*(Text(note, style="yellow") for note in self.notes[self.notes_shown :]), table)

    def row(self, report: StackReport) -> Sequence[RenderableType]:
        sign, colour, words = STYLES[report.phase]
        busy = not sign
        return (
            self.spinner if busy else Text(sign, style=colour),
            Text(report.stack, style="bold"),
            Text(words, style=colour),
            ProgressBar(total=report.total or None, completed=report.finished, width=24, pulse=not report.total)
            if busy
            else Text(" " * 24),
            Text(amount(report) if busy else "", justify="right"),
            Text((report.current or "starting the program") if busy else "", style="dim"),
            Text(f"{report.elapsed:.0f} s" if report.elapsed else "", justify="right"),
        )


class PlainLines:
    """A line whenever a stack enters a phase, and now and then one while it lasts."""

    def __init__(self, reports: Mapping[str, StackReport], notes: Sequence[str], console: Console) -> None:
        self.reports, self.notes, self.console = reports, notes, console
        self.reported: dict[str, tuple[Phase, float]] = {}
        self.notes_reported = 0

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tells, from a thread, for as long as the body runs."""
        ended = threading.Event()

        def tell_on() -> None:
            while not ended.wait(LOOK_SECONDS):
                self.tell()
            self.tell()

        teller = threading.Thread(target=tell_on)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()

    def tell_notes(self) -> None:
        for note in self.notes[self.notes_reported :]:
            self.line(note)
        self.notes_reported = len(self.notes)

    def tell(self) -> None:
        self.tell_notes()
        for name, report in self.reports.items():
            phase, elapsed = report.phase, report.elapsed
            told_phase, told_at = self.reported.get(name, ("waiting", 0.0))
            if phase == told_phase and (phase in (*ENDED, "waiting") or elapsed - told_at < HEARTBEAT_SECONDS):
                continue
            self.reported[name] = (phase, elapsed)
            if phase != "waiting":
                self.line(plain(report, phase, beat=phase == told_phase))

    def line(self, text: str) -> None:
        self.console.print(
            f"{datetime.now().astimezone():%H:%M:%S} {text}", markup=False, highlight=False, soft_wrap=True
        )


def plain(report: StackReport, phase: Phase, *, beat: bool) -> str:
    words = STYLES[phase][2]
    because = f" ({report.because})" if report.because else ""
    if phase in ENDED:
        return f"{report.stack}: {words}{because}, {report.elapsed:.1f} s"
    if beat:
        return f"{report.stack}: {words}, {amount(report)}, {at(report)}, {report.elapsed:.0f} s"
    return f"{report.stack}: {words}"


def at(report: StackReport) -> str:
    return f"at {report.current}" if report.current else "starting the program"


def amount(report: StackReport) -> str:
    """How far it has come: 12/81, or 12 while the end is unknown."""
    return f"{report.finished}/{report.total}" if report.total else str(report.finished)
