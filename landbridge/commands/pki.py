"""`landbridge pki`: a cluster's certificates."""

from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from fleet.rotations import rotations_path
from landbridge import tables
from landbridge.cluster.info import deployment
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.pki import certificates
from landbridge.pki.certificates import Row
from landbridge.pki.phases import moving, standings

from . import options
from .options import fleet_option, json_option, local_option
from .pki_rotate import rotate, show_phases

NAMES_SHOWN = 2
# Columns that a line with names takes; narrower screens do without, for --json has them.
WIDE = 120
# Fewer days left → colour.
COLOURS = ((30, "red"), (90, "yellow"))


@click.group()
def pki() -> None:
    """Certificates and keys of clusters: what ends when, and successors for it."""


pki.add_command(rotate)


@pki.command()
@click.option("--cluster", metavar="NAME", help="One cluster instead of all.")
@local_option
@fleet_option
@json_option
def status(cluster: str | None, *, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows each certificate, when it ends and from when on it is to be renewed.

    Reads public certificates out of the stacks' states and opens no secret. Exit code 1 when one has ended or is due.
    """
    out = options.output(as_json=as_json)
    world = options.the_fleet(fleet_file)
    known = ", ".join(world.fleet.clusters) or "none"
    if cluster and cluster not in world.fleet.clusters:
        raise UsageError(f"{world.path.name} has no cluster {cluster}. Its clusters: {known}.")
    place = options.the_place(world, local=local)
    now, picked = datetime.now(UTC), [cluster] if cluster else list(world.fleet.clusters)
    found = {name: certificates.rows(deployment(place, name)) for name in picked}
    phases = {name: moving(standings(rotations_path(world.path), name), now) for name in picked}
    if as_json:
        document = {name: [row.as_json(now) for row in rows] for name, rows in found.items()}
        out.document(
            {
                "fleet": world.fleet.fleet,
                "world": place.world,
                "notes": place.notes,
                "clusters": document,
                "rotations": {name: [one.as_json() for one in keys] for name, keys in phases.items()},
            }
        )
    else:
        for note in place.notes:
            out.console.print(note, soft_wrap=True)
        for name, rows in found.items():
            show(name, rows, now, out.console)
            show_phases(name, phases[name], out.console)
        if not found:
            out.console.print(f"{world.path.name} has no clusters.")
    return FAILED if any(certificates.unsound(rows, now) for rows in found.values()) else DONE


def show(name: str, rows: list[Row], now: datetime, console: Console) -> None:
    """A table of one cluster's certificates, and what to do about them."""
    if not rows:
        console.print(f"Cluster {name} has no certificates: it was never up.")
        return
    wide = ["names"] if console.width >= WIDE else []
    table = tables.plain_table(
        f"cluster {name}", "authority", "used for", *wide, "expires in", "renewal from", right=["expires in"]
    )
    for row in rows:
        renewal = f"{row.renewal:%Y-%m-%d}" if row.renewal else "never"
        verdict = row.verdict(now)
        if verdict == "unreadable":
            table.add_row(row.name, "", "", *("" for _ in wide), Text("can't be read", style="bold red"), "")
        else:
            uses = ", ".join(row.uses)
            due = Text(f"{renewal} (due)", style="yellow") if verdict == "due" else Text(renewal)
            table.add_row(
                Text(row.name, style="bold"), row.authority, uses, *(names(row) for _ in wide), left(row, now), due
            )
    console.print(table)
    for line in certificates.remedies(name, certificates.unsound(rows, now), now):
        console.print(Text(line, style="yellow"), soft_wrap=True)


def names(row: Row) -> str:
    shown = row.names or (row.subject,)
    more = len(shown) - NAMES_SHOWN
    return ", ".join(shown[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def left(row: Row, now: datetime) -> Text:
    if row.verdict(now) == "expired":
        return Text(f"expired {_long(-row.left(now).total_seconds())} ago", style="bold red")
    days = row.left(now).days
    colour = next((colour for fewer, colour in COLOURS if days < fewer), "green")
    return Text(_long(row.left(now).total_seconds()), style=colour)


def _long(seconds: float) -> str:
    hours = int(seconds // 3600)
    return f"{hours // 24} days" if hours >= 48 else f"{hours} hours"
