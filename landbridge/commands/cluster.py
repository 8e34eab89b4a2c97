"""`landbridge cluster`: the machines of a control plane."""

from pathlib import Path

import click
from rich.text import Text

from landbridge import tables
from landbridge.cluster.info import ClusterInfo
from landbridge.cluster.machines import Machines, State
from landbridge.cluster.roll import Roll, RollError
from landbridge.cluster.session import Session
from landbridge.errors import DONE, FAILED
from landbridge.etcd import second_region_copies, snapshot_age
from landbridge.etcd import store as stores
from landbridge.etcd.ring import RING
from landbridge.output import Output

from . import options
from .cluster_rebuild import rebuild
from .cluster_update import update
from .options import fleet_option, json_option, local_option, together

common = together(click.argument("name", required=False, metavar="[CLUSTER]"), local_option, fleet_option, json_option)


@click.group()
def cluster() -> None:
    """The machines of a cluster's control plane."""


cluster.add_command(rebuild)
cluster.add_command(update)


@cluster.command()
@common
def status(*, name: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows each machine: where it is, whether Kubernetes, bundle and image are the newest, and how healthy it is.

    Exit code 1 when a machine is not healthy.
    """
    session = options.the_cluster(fleet_file, name, local=local)
    out = options.output(as_json=as_json)
    states = Machines(session).look()
    copied = [copy for ring in RING if (copy := second_region_copies.newest(session, ring))]
    no_keys = second_region_copies.keys(session)
    if as_json:
        document = {"machines": [state.as_json() for state in states.values()]}
        newest = [copy._asdict() for copy in copied]
        out.document({"cluster": session.info.name, **document, "newest_copies": newest, "copy_of_keys": no_keys})
    else:
        show(session.info, list(states.values()), out)
        late = [Text(f"etcd {ring}: {why}", style="yellow") for ring in RING if (why := snapshot(session, ring))]
        for line in [*late, *(copy.line() for copy in copied), *([Text(no_keys, style="yellow")] if no_keys else [])]:
            out.console.print(line, soft_wrap=True)
    return FAILED if any(state.ails for state in states.values()) else DONE


def snapshot(session: Session, ring: str) -> str:
    """What is wrong with the age of a ring's newest snapshot at home; empty if nothing is."""
    found = stores.scheduled(session.bucket, session.info.name, ring)
    return snapshot_age.late(ring, stores.taken(found[-1]) if found else None)


def show(info: ClusterInfo, states: list[State], out: Output) -> None:
    table = tables.plain_table("machine", "zone", "address", "instance", "Kubernetes", "older", "health")
    for state in states:
        leads = f"healthy, leads {' and '.join(state.leads)}" if state.leads else "healthy"
        table.add_row(
            Text(state.name, style="bold"),
            state.zone,
            state.address,
            state.instance or "none",
            Text(state.kubernetes, style="" if state.kubernetes == state.wanted_kubernetes else "yellow"),
            Text(", ".join(state.behind), style="yellow"),
            Text("; ".join(state.ails), style="red") if state.ails else Text(leads, style="green"),
        )
    out.console.print(table)
    waiting = [state.name for state in states if state.behind]
    if waiting:
        to = f", to Kubernetes {info.kubernetes}" if any("Kubernetes" in state.behind for state in states) else ""
        out.console.print(
            f"Not the newest: {', '.join(waiting)}. `landbridge cluster roll {info.name}` replaces them{to}.",
            soft_wrap=True,
        )


@cluster.command()
@common
@click.option("--machines", metavar="A,B", help="Only these, if they need it.")
@click.option("--force", is_flag=True, help="Machines that have the newest of everything, too.")
def roll(
    *, name: str | None, local: bool, fleet_file: Path | None, as_json: bool, machines: str | None, force: bool
) -> int:
    """Replaces machines whose bundle, image or Kubernetes is not the newest: one at a time, each healthy first.

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
        out.console.print("Nothing to do: every machine has the newest bundle, image and Kubernetes.")
    return DONE
