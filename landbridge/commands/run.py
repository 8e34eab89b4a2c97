"""`landbridge run`: a folder becomes a run on GPUs."""

import os
import sys
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.text import Text

from fleet.team_queues import ANY_CLUSTER
from landbridge import loudness, tables
from landbridge.access import person as access
from landbridge.access.person import Person
from landbridge.errors import DONE, INTERRUPTED, UsageError
from landbridge.experiments import anywhere, checkpoint_signal, follow, launching, spec
from landbridge.experiments.launching import Prepared
from landbridge.experiments.offer import Offer
from landbridge.output import Output
from landbridge.prices import age

from . import options
from .options import json_option
from .people import opened, person_options

MIB = 2**20


def variables(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """NAME=VALUE, or NAME for what it is here."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals and name not in os.environ:
            raise click.BadParameter(f"{name} is no variable here: write {name}=VALUE.")
        found[name] = value if equals else os.environ[name]
    return found or None


def several(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str] | None:
    return list(given) or None


# Each has its key in run.yaml, whose text says what it is without the flag.
FLAGS = (
    click.option("--gpus", type=int, metavar="N", help="GPUs in all; more than a machine has are whole machines."),
    click.option("--name", metavar="NAME", help="Made of the folder's name without it."),
    click.option("--gpus-per-host", type=int, metavar="N", help="As many as the largest machines have without it."),
    click.option("--image", metavar="IMAGE", help="The fleet file's images.runs without it."),
    click.option(
        "--template",
        metavar="NAME|FILE",
        help="How the hosts meet: plain, torchrun, mpi, parameter-servers, or a .yaml of yours.  [plain]",
    ),
    click.option(
        "--env", "environment", multiple=True, callback=variables, metavar="NAME[=VALUE]", help="May stand often."
    ),
    click.option("--secret", "secrets", multiple=True, callback=several, metavar="NAME", help="Its keys as variables."),
    click.option("--priority", type=click.Choice(["low", "normal", "high"]), help="Inside the team.  [normal]"),
    click.option("--restarts", type=int, metavar="N", help="After exit codes of its own.  [0]"),
    click.option("--hang-minutes", type=float, metavar="N", help="A host fails that leaves HEARTBEAT_FILE so long."),
    click.option(
        "--checkpoint-signal",
        type=click.Choice(checkpoint_signal.SIGNALS),
        help="To programs that handle it, in the last hour before maintenance of their host.",
    ),
    click.option("--max-hours", type=float, metavar="HOURS", help="Then it is stopped."),
    click.option("--max-price", type=float, metavar="USD", help="The most an hour, for all its machines."),
    click.option("--checkpoints", metavar="SHARE", help="The share that CHECKPOINT_DIR is on."),
    click.option("--cpus", type=int, metavar="N", help="Of each host."),
    click.option("--memory-gib", type=int, metavar="N", help="Of each host."),
    click.option("--tensorboard/--no-tensorboard", default=None, help="Shows what is in TENSORBOARD_DIR."),
    click.option("--redis/--no-redis", default=None, help="A Valkey of its own, by REDIS_URL."),
)


def flags(command: Any) -> Any:
    for flag in reversed(FLAGS):
        command = flag(command)
    return command


@click.command(options_metavar="[OPTIONS]")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@flags
@person_options
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The code.  [.]")
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="Another file than FOLDER/run.yaml.")
@click.option("--dry-run", is_flag=True, help="Only say where it would go, and what it would cost.")
@click.option("--detach", "-d", is_flag=True, help="Do not follow it.")
@json_option
def run(
    command: tuple[str, ...],
    *,
    folder: Path,
    file: Path | None,
    dry_run: bool,
    detach: bool,
    as_json: bool,
    fleet_file: Path | None,
    kubeconfigs: tuple[Path, ...],
    cluster: str | None,
    team: str | None,
    local: bool,
    **given: Any,
) -> int:
    """Runs COMMAND with this folder's code on GPUs of the cluster, and follows it.

    What git ignores does not travel. The run waits in its team's queue until there is room for all of it, and starts as
    a whole. With --cluster any it goes to the cluster where it can begin soonest. Ctrl-C leaves it alone. The exit code
    is the run's own.
    """
    said = {name: value for name, value in given.items() if value is not None}
    said |= {name: value for name, value in {"cluster": cluster, "team": team}.items() if value is not None}
    if command:
        said["command"] = list(command)
    if not folder.is_dir():
        raise UsageError(f"--folder {folder}: there is no such folder.")
    found = spec.given(folder, said, file)
    # What is on stdout is the run's own, or the document's; of a dry run it is what would be.
    out = options.output(as_json=as_json or not dry_run)
    who: dict[str, Any] = {"local": local, "kubeconfigs": kubeconfigs, "team": found.run.team}
    if found.run.cluster == ANY_CLUSTER:
        clusters = access.clusters(options.the_fleet(fleet_file), kubeconfigs)
        going = anywhere.anywhere(found, folder, clusters, lambda name: opened(fleet_file, name, **who))
    else:
        prepared = launching.prepare(found, opened(fleet_file, found.run.cluster, **who), folder)
        going = anywhere.Found(prepared, {})
    prepared = going.chosen
    show_offer(going, out)
    document = {**as_document(prepared), "others": going.others}
    if dry_run:
        if as_json:
            out.document(document)
        return DONE
    with Sending(out) as sending:
        launched, shipped = launching.start(prepared, sending)
    out.console.print(
        f"{launched.name} is queued. Code: {shipped.files} files, {shipped.sent_bytes / MIB:.1f} MiB sent."
    )
    if as_json:
        out.document({**document, "code": launched.code, "sent_bytes": shipped.sent_bytes})
    if as_json or detach:
        return DONE
    return followed(prepared.person, launched.name, launched.template.shown)


def followed(person: Person, name: str, part: str, rank: int = 0) -> int:
    """A Ctrl-C ends this and not the run."""
    here = person.options

    def tell(text: str) -> None:
        loudness.note(text, fg="cyan")

    try:
        return follow.follow(person, name, tell, part, rank)
    except KeyboardInterrupt:
        click.echo(
            f"\n{name} goes on. `landbridge logs {name} -f{here}` follows it, `landbridge stop {name}{here}` ends it.",
            err=True,
        )
        return INTERRUPTED


def as_document(prepared: Prepared) -> dict[str, Any]:
    launched, offer = prepared.launched, prepared.offer
    return {
        "name": launched.name,
        "team": launched.team,
        "cluster": prepared.person.cluster,
        "hosts": launched.hosts.number,
        "gpus_per_host": launched.hosts.gpus,
        "choices": [one._asdict() for one in offer.choices],
        "place": offer.chosen.place if offer.chosen else None,
        "usd_an_hour": offer.chosen.usd_an_hour if offer.chosen else None,
        "waits": offer.waits,
    }


def show_offer(found: anywhere.Found, out: Output) -> None:
    """Before anything is bought: where it would go and why, what is free, and what it costs."""
    prepared, others = found
    launched, offer = prepared.launched, prepared.offer
    many = launched.hosts
    plural = "hosts" if many.number > 1 else "host"
    where = f" in {prepared.person.cluster}" if others else ""
    what = f" of {launched.team}{where}: {many.number} {plural} with {many.gpus} GPUs"
    out.progress.print(Text.assemble((launched.name, "bold"), what))
    table = tables.plain_table(
        "place", "pool", "free", "of", "buys", "an hour", "", right=("free", "of", "buys", "an hour")
    )
    for one in offer.choices:
        cost = "own" if one.site else "unknown" if one.usd_an_hour is None else f"${one.usd_an_hour:,.2f}"
        here = one == offer.chosen
        mark = Text("goes here" if here and not offer.waits else "would go here" if here else "", style="green")
        buys = f"≤ {one.buys}" if one.buys else ""
        table.add_row(Text(one.place, style="bold"), one.pool, str(one.free), str(one.of), buys, cost, mark)
    out.progress.print(table)
    priced = age.of_pools(prepared.person.world.fleet, [one.pool for one in offer.choices])
    if dated := age.line(priced, age.today()):
        out.progress.print(dated, soft_wrap=True)
    out.progress.print(expected(offer, prepared.person.options))
    for cluster, why in others.items():
        out.progress.print(Text(f"In {cluster}: {why.rstrip('.')}.", style="dim"))
    if prepared.remark:
        out.progress.print(Text(prepared.remark, style="dim"))


def expected(offer: Offer, options: str) -> Text:
    """When it begins. `options` are those of commands that look there."""
    if offer.waits:
        return Text(f"It will wait: {offer.waits}. `landbridge queue{options}` shows before whom.", style="yellow")
    if offer.chosen is not None and offer.chosen.site:
        return Text("It begins at once: the machines are there.", style="green")
    return Text("It begins when its machines are there, which takes minutes: those that are not, are bought.")


class Sending:
    """How much of the code has travelled."""

    def __init__(self, out: Output) -> None:
        columns = (TextColumn("sending code"), BarColumn(bar_width=20), DownloadColumn(binary_units=True))
        unseen = loudness.quiet() or not sys.stderr.isatty()
        self.bar = Progress(*columns, console=out.progress, transient=True, disable=unseen)
        self.task = self.bar.add_task("code", total=None)

    def __enter__(self) -> "Sending":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, done: int, of: int) -> None:
        self.bar.update(self.task, completed=done, total=of)
