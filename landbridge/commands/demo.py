"""`landbridge demo`: what Landbridge is for, to look at, on the local cloud."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console, RenderableType
from rich.console import Group as Rows
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from landbridge import tables
from landbridge.demo import burst as bursts
from landbridge.demo import burst_state, prepare, shortage
from landbridge.demo.burst import Burst
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.output import Output

from . import options
from .options import cluster_option, fleet_option, json_option, local_option

BEAT_SECONDS = 15.0
# With it a row fits eighty columns.
BAR = 12
NOTHING = burst_state.Look(0, 0, 0, 0)


@click.group()
def demo() -> None:
    """What Landbridge is for, to look at, on the local cloud."""


@demo.command()
@cluster_option
@local_option
@fleet_option
@json_option
@click.option(
    "--gpus", type=click.IntRange(min=1), default=1600, show_default=True, help="How many the Job asks for together."
)
@click.option(
    "--short/--no-short",
    default=True,
    show_default=True,
    help="Have the last region that is needed run out of hardware halfway, where another one comes after it.",
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=1),
    default=1800.0,
    metavar="SECONDS",
    help="How long all may take to come, and how long to go.  [default: 1800]",
)
def burst(
    *, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, gpus: int, short: bool, seconds: float
) -> int:
    """A Job asks for far more GPUs than the site has: pools fill up in the fleet file's order, and are given back.

    One region's hardware gives out on the way: what it refuses the next pool gets, of whichever cloud.

    The fleet must be up (`landbridge up --local`). The autoscaler buys what is missing, and ends it when the Job has
    ended and its machines have been idle for a while. Interrupted, the Job is ended, too. Exit code 1 when not all
    came, or more was bought than was needed.
    """
    if not local:
        raise UsageError("This buys hundreds of GPU machines, and so runs on the local cloud alone: add --local.")
    out = options.output(as_json=as_json)
    made = prepare.prepared(options.the_cluster(fleet_file, cluster, local=local), gpus, short=short)
    screen = Screen(made, out.progress)
    # A plain end would leave the Job, and what it asks for.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with screen.shown():
        with shortage.short(made.session.world.fleet, made.mine, made.short), bursts.submitted(made):
            made.fill(screen.tell, seconds)
        made.give_back(screen.tell, seconds)
    made.count()
    good = sum(made.bought.values()) == made.machines
    if as_json:
        out.document(made.as_json())
    else:
        show(made, out)
    return DONE if good else FAILED


class Screen:
    """Bars that fill up on a terminal, lines elsewhere."""

    def __init__(self, made: Burst, console: Console) -> None:
        self.made, self.console = made, console
        self.live: Live | None = None
        self.reported: dict[str, tuple[burst_state.Look, float]] = {}

    @contextmanager
    def shown(self) -> Iterator[None]:
        if not self.console.is_terminal:
            yield
            return
        with Live(console=self.console, refresh_per_second=4, transient=True, get_renderable=self.picture) as self.live:
            yield

    def tell(self, seconds: float, found: burst_state.Looks) -> None:
        if self.live is None:
            for name, one in found.items():
                self.line(seconds, name, one)

    def line(self, seconds: float, name: str, one: burst_state.Look) -> None:
        """What people without a picture read: each change of what is asked for, and now and then how far it is."""
        before, when = self.reported.get(name, (None, 0.0))
        share = self.made.shares[name]
        news = before is None or before.asked != one.asked or one.gpus == share or seconds >= when + BEAT_SECONDS
        if before == one or not news:
            return
        self.reported[name] = (one, seconds)
        # A refusal stays the group's last word while its machines are given back.
        refused = one.failure if before is None or before.failure != one.failure else ""
        self.console.print(f"{seconds:6.1f} s  {name}: {words(one, share, refused)}", markup=False, soft_wrap=True)

    def picture(self) -> RenderableType:
        troubles: list[Text] = []
        table = Table.grid(padding=(0, 2))
        for column in range(6):
            table.add_column(justify="right" if column > 2 else "left", no_wrap=True)
        found, going = self.made.row[-1][1] if self.made.row else {}, self.made.ended is not None
        for name, pool in self.made.mine.items():
            one, share = found.get(name, NOTHING), self.made.shares[name]
            # While it is given back: the machines that are left of those that were bought.
            most = share // self.made.each if going else share
            bar = ProgressBar(total=max(most, 1), completed=one.machines if going else one.gpus, width=BAR)
            cells = (f"{one.gpus}/{share} GPUs", f"{one.machines} machines", f"{one.ready} Ready")
            table.add_row(Text(name, style="bold"), pool.region or pool.site, bar, *cells)
            if one.failure and not going:
                troubles.append(Text(f"{name} launches none: {one.failure}", style="yellow"))
        return Rows(headline(self.made), table, *troubles)


def words(one: burst_state.Look, share: int, refused: str) -> str:
    coming = f"{one.asked} machines, {one.ready} Ready"
    failed = f"; launches none: {refused}" if refused else ""
    return f"{one.gpus} of {share} GPUs at work, {coming}{failed}"


def headline(made: Burst) -> Text:
    clock = f"{made.seconds // 60:.0f}:{made.seconds % 60:02.0f}"
    if made.ended is None:
        return Text(f"{made.at_work()} of {made.gpus} GPUs at work, {clock}", style="bold")
    return Text(f"The Job has ended; machines go after {bursts.IDLE} without work, {clock}", style="bold")


def show(made: Burst, out: Output) -> None:
    columns = ("GPUs", "machines bought", "asked for s", "first at work s", "all at work s")
    table = tables.plain_table("pool", "place", *columns, right=columns)
    table.columns[1].no_wrap = True
    document = made.as_json()
    for one in document["pools"]:
        pool = made.mine[one["pool"]]
        numbers = [one[name] for name in ("asked", "first", "most")]
        table.add_row(
            Text(one["pool"], style="bold"),
            pool.region or pool.site,
            str(one["gpus"]),
            str(one["machines_launched"]) if pool.region else "",
            *("" if number is None else f"{number:.0f}" for number in numbers),
        )
    out.console.print(table)
    for name, most in made.short.items():
        out.console.print(f"{made.mine[name].region} had hardware for {most} machines of {name}.", markup=False)
    bought = document["machines_launched"]
    assert made.full is not None
    assert made.back is not None
    assert made.ended is not None
    out.console.print(
        f"{made.gpus} GPUs were at work after {made.full:.0f} s. {bought} machines were ever launched"
        f"{'' if bought == made.machines else f', and {made.machines} were needed'}; the last was gone "
        f"{made.back - made.ended:.0f} s after the Job had ended.",
        soft_wrap=True,
    )
