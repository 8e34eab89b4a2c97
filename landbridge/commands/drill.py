"""`landbridge drill`: breaks a cluster in every way it must survive, and shows that it does."""

import signal
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from landbridge import tables
from landbridge.cluster.session import Session
from landbridge.drill import cleanup as clearing
from landbridge.drill.marker import Mark
from landbridge.drill.run import DRILLS, Result, run
from landbridge.errors import DONE, FAILED, ConsentError, UsageError

from . import options
from .options import cluster_option, fleet_option, json_option, local_option


@click.command()
@click.argument("drills", nargs=-1, metavar="[DRILL]...")
@cluster_option
@local_option
@click.option("--really", metavar="CLUSTER", help="On real clouds: the name of the cluster that is to be broken.")
@click.option("--clear", is_flag=True, help="Break nothing: put right what a drill left that was killed.")
@fleet_option
@json_option
def drill(
    drills: tuple[str, ...],
    *,
    cluster: str | None,
    local: bool,
    really: str | None,
    clear: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Breaks a cluster on purpose, under steady writes, and compares what was acknowledged with what is there after.

    Without names all drills run, one after the other. Two of them lose writes, for they lose a ring's majority: they
    say exactly which. Exit code 1 when something did not come back as it must. Interrupted, a drill puts right what it
    has broken.
    """
    if clear and drills:
        raise UsageError("--clear breaks nothing: it takes no drills.")
    if unknown := [name for name in drills if name not in DRILLS]:
        raise UsageError(f"There is no drill {', '.join(unknown)}. The drills: {', '.join(DRILLS)}.")
    session = options.the_cluster(fleet_file, cluster, local=local)
    consent(session, really)
    out = options.output(as_json=as_json)
    # A plain end would leave the cluster as it is just then.
    signal.signal(signal.SIGTERM, interrupted)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, interrupted)

    def tell(line: str) -> None:
        out.progress.print(line, markup=False, soft_wrap=True)

    if clear:
        clearing.clear(session, Mark(session), tell)
        whole = f"{session.info.name} is healthy, and no drill has left anything."
        out.console.print(whole, markup=False, soft_wrap=True)
        return DONE
    results = run(session, drills or tuple(DRILLS), tell)
    if as_json:
        out.document({"cluster": session.info.name, "drills": [result.as_json() for result in results]})
    else:
        out.console.print(table(results))
    return FAILED if any(result.problem for result in results) else DONE


def interrupted(*_: object) -> None:
    """At once, for a drill may take a while until it has ended."""
    click.echo("Interrupted: what is broken is put right first. Once more ends that, too.", err=True)
    raise KeyboardInterrupt


def consent(session: Session, really: str | None) -> None:
    """Nobody minds on the local cloud. Raises ConsentError."""
    name = session.info.name
    if session.place.world == "local" or really == name:
        return
    raise ConsentError(
        f"Nothing was broken. {name} is a real cluster: drills end its machines, empty its etcd disks and take it back "
        f"to snapshots, so what is written meanwhile may be lost. Try `landbridge drill --local`; to break {name} all "
        f"the same: --really {name}"
    )


def table(results: list[Result]) -> Table:
    numbers = ("recovery s", "longest write s", "writes", "retries", "failed", "lost")
    made = tables.plain_table("drill", *numbers, "", right=numbers)
    for one in results:
        made.add_row(
            Text(one.drill, style="bold"),
            f"{one.seconds:.1f}",
            f"{one.waited:.1f}",
            str(one.acknowledged),
            str(one.retries),
            str(one.failed),
            str(one.lost),
            Text("failed", style="red") if one.problem else Text("held", style="green"),
        )
    return made
