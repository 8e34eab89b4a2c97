"""`landbridge cluster rebuild`: a cluster whose region is lost, in another one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.rebuilds import Origin
from fleet.world import World
from landbridge.errors import DONE, ConsentError, LandbridgeError
from landbridge.output import Output

from . import options
from .options import fleet_option, json_option, local_option

if TYPE_CHECKING:
    from landbridge.cluster.rebuild import Taken


@click.command()
@click.argument("name", metavar="[CLUSTER]", required=False)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--from", "source", metavar="KEY", help="A copied snapshot instead of the newest.")
@click.option("--although-alive", is_flag=True, help="Though the API in the lost region still answers.")
@local_option
@fleet_option
@json_option
def rebuild(
    name: str | None,
    *,
    yes: bool,
    source: str | None,
    although_alive: bool,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Brings a cluster whose region is lost up in the region that has its copies (`copies` in fleet.yaml).

    First write that region under clusters.NAME.region and run `landbridge plan --write`. The cluster keeps its name,
    its pods' and services' prefixes and its keys; etcd main goes back to the newest copied snapshot, and all scale-down
    is frozen. Nothing in the lost region is called. Stopped anywhere, it goes on when called again.
    """
    from landbridge.cluster import session  # the engine and clouds with it
    from landbridge.cluster.rebuild import Rebuild

    world = options.the_fleet(fleet_file)
    chosen = session.chosen(world.fleet, world.path, name)
    out = options.output(as_json=as_json)
    this = Rebuild(world, session.the_place(world, local=local), chosen, out, source)
    try:
        origin = this.run(lambda taken: agree(taken, out, yes=yes), although_alive=although_alive)
    except LandbridgeError as error:
        error.document = {"cluster": chosen, **_as_json(this.origin)}
        raise
    lines = following(world, chosen, origin, local=local)
    if as_json:
        out.document({"cluster": chosen, **_as_json(origin), **this.done, "next": lines})
        return DONE
    if not this.done:
        out.console.print(
            f"Nothing to do: {chosen} was rebuilt in {origin.region} on {origin.restored:%Y-%m-%d %H:%M} UTC, from "
            f"{origin.snapshot}.",
            soft_wrap=True,
        )
        return DONE
    for line in [*finished(chosen, origin, this.done), *lines]:
        out.console.print(line, markup=False, soft_wrap=True)
    return DONE


def agree(taken: "Taken", out: Output, *, yes: bool) -> None:
    """The consent. Raises ConsentError."""
    for line in taken.lines():
        out.console.print(line, markup=False, soft_wrap=True)
    if yes:
        return
    if not out.interactive:
        raise ConsentError("Nothing was changed: there is no terminal to ask on. To agree: --yes")
    if click.prompt(f"Type {taken.cluster} to go on", default="", show_default=False) != taken.cluster:
        raise ConsentError("Nothing was changed.")


def finished(cluster: str, origin: Origin, done: dict[str, Any]) -> list[str]:
    lost, problem = done["taken_at"], done["freeze_problem"]
    return [
        f"{cluster} is back in {origin.region} after {done['seconds']:.0f} s: etcd main at revision "
        f"{done['revision']}, going on at {done['continues_at']}.",
        f"Lost: everything written after {lost:%Y-%m-%d %H:%M:%S} UTC.",
        *([f"WARNING: scale-down could not be frozen: {problem}. Stop the autoscaler by hand."] if problem else []),
    ]


def following(world: World, cluster: str, origin: Origin, *, local: bool) -> list[str]:
    """What people have to do next."""
    from landbridge.cluster import freeze, rebuild_state

    where = " --local" if local else ""
    beside = [f"{world.path.stem}{kind}.yaml" for kind in ("", ".lock", ".rebuilt")]
    pools = [name for name, pool in world.fleet.pools.items() if pool.cluster == cluster]
    unset = (
        f"Set clusters.{cluster}.copies to a region that stands, then `landbridge up {cluster}{where}`: until then "
        "nothing is copied."
    )
    lines = [
        f"Commit {', '.join(beside)}: without them another checkout's up is refused.",
        *([unset] if world.fleet.clusters[cluster].copies is None else []),
        "Write kubeconfigs anew, for the API has another address: `landbridge kubeconfig`. Certificates stay good.",
    ]
    if pools:
        lines.append(f"Machines of {', '.join(pools)} must be told the new address of the API: bring their stacks up.")
    lines += [
        f"When nodes are as they should be, let scale-down go on: `{freeze.RELEASE}`.",
        f"When {origin.lost} is back, end what is left there before anybody reaches it: "
        f"`landbridge destroy{where} --ignore-protect {cluster}{rebuild_state.suffix(origin.lost)}`.",
    ]
    return lines


def _as_json(origin: Origin | None) -> dict[str, Any]:
    return {"origin": origin.model_dump() if origin else None}
