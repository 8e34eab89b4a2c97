"""`landbridge cluster`: the machines of a control plane."""

from pathlib import Path

import click
from rich.text import Text

from .. import render
from ..cluster.info import ClusterInfo
from ..cluster.machines import Machines, State
from ..cluster.roll import Roll, RollError
from ..errors import DONE, FAILED
from ..output import Output
from . import options
from .options import fleet_option, json_option, local_option, together

common = together(click.argument("name", required=False, metavar="[CLUSTER]"), local_option, fleet_option, json_option)


@click.group()
def cluster() -> None:
    """The machines of a cluster's control plane."""


@cluster.command()
@common
def status(*, name: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows each machine: where it is, whether bundle and image are the newest, and how healthy it is.

    Exit code 1 when a machine is not healthy.
    """
    session = options.the_cluster(fleet_file, name, local=local)
    out = options.output(as_json=as_json)
    states = Machines(session).look()
    if as_json:
        out.document({"cluster": session.info.name, "machines": [state.as_json() for state in states.values()]})
    else:
        show(session.info, list(states.values()), out)
    return FAILED if any(state.ails for state in states.values()) else DONE


def show(info: ClusterInfo, states: list[State], out: Output) -> None:
    table = render.plain_table("machine", "zone", "address", "instance", "older", "health")
    for state in states:
        leads = f"healthy, leads {' and '.join(state.leads)}" if state.leads else "healthy"
        table.add_row(
            Text(state.name, style="bold"),
            state.zone,
            state.address,
            state.instance or "none",
            Text(", ".join(state.behind), style="yellow"),
            Text("; ".join(state.ails), style="red") if state.ails else Text(leads, style="green"),
        )
    out.console.print(table)
    waiting = [state.name for state in states if state.behind]
    if waiting:
        out.console.print(
            f"Not the newest: {', '.join(waiting)}. `landbridge cluster roll {info.name}` replaces them.",
            soft_wrap=True,
        )


@cluster.command()
@common
@click.option("--machines", metavar="A,B", help="Only these, if they need it.")
@click.option("--force", is_flag=True, help="Machines that have the newest bundle and image, too.")
def roll(
    *, name: str | None, local: bool, fleet_file: Path | None, as_json: bool, machines: str | None, force: bool
) -> int:
    """Replaces machines that have not the newest bundle and image: one at a time, each healthy before the next.

    First etcd's followers, its leader last, then API machines. It stops at the first machine that does not become
    healthy and says so; run again, it goes on where it stopped.
    """
    session = options.the_cluster(fleet_file, name, local=local)
    out = options.output(as_json=as_json)
    this = Roll(session, lambda line: out.progress.print(line, markup=False, soft_wrap=True))
    chosen = [machine.strip() for machine in machines.split(",") if machine.strip()] if machines else []
    try:
        done = this.run(chosen, force=force)
    except RollError as error:
        error.document = {"cluster": session.info.name, "replaced": [one.as_json() for one in this.done]}
        raise
    if as_json:
        out.document({"cluster": session.info.name, "replaced": [one.as_json() for one in done]})
    elif done:
        out.console.print(f"{len(done)} machines replaced; all are healthy.")
    else:
        out.console.print("Nothing to do: every machine has the newest bundle and image.")
    return DONE
