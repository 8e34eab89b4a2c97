"""`landbridge image burn-in`: the GPUs of a machine under test, and what its node shows of it."""

from collections.abc import Iterator, Set
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import click
from botocore.exceptions import BotoCoreError, ClientError

from fleet.errors import FleetError
from fleet.where import fleet_path
from images.burn_in import thresholds as given
from images.burn_in.findings import Result
from images.burn_in.run import NoGpu, Tools, begin, burn_in
from landbridge.cluster.kube import Kube
from landbridge.errors import DONE, FAILED, LandbridgeError
from landbridge.image.burn_in import member, report, runners
from landbridge.image.burn_in.member import Member, NoNode
from landbridge.image.burn_in.node_status import NodeStatusWriter
from local.client import LocalCloudError

from . import options
from .options import Output, cluster_option, fleet_option, json_option, local_option, together


@click.command("burn-in")
@click.argument("node", metavar="[USER@]HOST", default=runners.HERE)
@click.option(
    "--quick", is_flag=True, help="Only looks: no load, so it may run beside work. Seconds instead of minutes."
)
@click.option("--expect", type=click.IntRange(1), metavar="GPUS", help="How many GPUs it has, if not as its pool says.")
@click.option(
    "--taint/--no-taint",
    default=None,
    help="Whether its node shows the result. By default where it is a node of the fleet's cluster.",
)
@click.option(
    "--thresholds", type=click.Path(path_type=Path), metavar="FILE", help="Other thresholds than our own, whole."
)
@together(cluster_option, local_option, fleet_option, json_option)
def burn_in_(
    node: str,
    *,
    quick: bool,
    expect: int | None,
    taint: bool | None,
    thresholds: Path | None,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Tests the GPUs of a machine over SSH, or of this one: counts, clocks, errors, links, bandwidth, NCCL, DCGM.

    A node that fails gets the taint gpu-failed and a condition that names the part; one that passes gets a label.
    A test that could not run is no pass. Load is put only on GPUs that nobody uses, and new work is kept off the
    node meanwhile: where the cluster can't be asked for it, no load is put on. Exit code 1 for all but a pass.
    """
    out, limits = options.output(as_json=as_json), given.load(thresholds or given.THRESHOLDS)
    run = runners.runner(node)
    tools = Tools(run, lambda line: out.progress.print(line, style="dim", soft_wrap=True, markup=False))
    begun = begin(tools)
    if isinstance(begun, NoGpu):
        return untested(node, begun, out)
    mine: Mine | None = None
    if taint is not False:
        names = member.names(runners.host(node), run(["cat", "/proc/sys/kernel/hostname"], 10).out)
        try:
            mine = this_node(names, fleet_file, cluster, local=local)
        except (LandbridgeError, FleetError, LocalCloudError, BotoCoreError, ClientError) as error:
            if taint:
                raise
            if not quick and not isinstance(error, NoNode):
                raise unasked(node, error) from None
            out.progress.print(f"No node shows the result: {error}", soft_wrap=True, markup=False)
    expected = expect if expect is not None or mine is None else mine.member.gpus
    with without_new_work(mine, out) if mine and not quick else nullcontext():
        found = burn_in(tools, begun, limits, "quick" if quick else "full", expected)
        shown = mine.member.name if mine and written(mine, found, out) else None
    show(node, found, shown, out)
    return DONE if found.outcome == "passed" and (mine is None or shown) else FAILED


class Mine(NamedTuple):
    """The machine's node, and its cluster's API."""

    member: Member
    kube: Kube

    @property
    def status_writer(self) -> NodeStatusWriter:
        return NodeStatusWriter(self.kube, self.member.name)


def this_node(names: Set[str], fleet_file: Path | None, cluster: str | None, *, local: bool) -> Mine:
    """The machine as a node of the fleet's cluster. Raises NoNode where it is none, and for whatever stands between."""
    from landbridge.cluster import session as sessions  # speaks to clouds: a machine outside of all does without

    try:
        path = fleet_path(fleet_file)
    except FleetError as error:
        raise NoNode(str(error)) from None
    if fleet_file is None and not path.is_file():
        raise NoNode(f"{path}: there is no such fleet file.")
    world = options.the_fleet(fleet_file)
    if not world.fleet.clusters:
        raise NoNode(f"{world.path.name} has no cluster.")
    if world.fleet.state is None and not local:
        # Else the process would go on inside a local cloud that runs, from where no machine is reached.
        raise NoNode(f"{world.path.name} has no state, so its cluster is in no cloud. --local means the local one.")
    session = sessions.opened(world, cluster, local=local)
    found = member.find(session.admin, world, names)
    if found is None:
        listed = ", ".join(sorted(names)) or "this machine"
        raise NoNode(f"Cluster {session.info.name} has no node that is called {listed}.")
    return Mine(found, session.admin)


def unasked(node: str, error: Exception) -> LandbridgeError:
    """For a full burn-in: what nobody can ask for may be at work, and gets more of it meanwhile."""
    why = str(error).rstrip(".")
    return LandbridgeError(
        f"Whether {node} is a node of the cluster could not be asked, so no load was put on it and nothing was tested: "
        f"{why}. If it has no work and gets none, --no-taint tests it all the same; --quick only looks."
    )


@contextmanager
def without_new_work(mine: Mine, out: Output) -> Iterator[None]:
    """No new work comes to the node in the block. Raises LandbridgeError before it where there is some."""
    mine.status_writer.begin()
    try:
        # After the taint: what is not there by now does not come.
        if pods := member.at_work(mine.kube, mine.member.name):
            raise LandbridgeError(
                f"{mine.member.name} is at work, so no load was put on it and nothing was tested: {', '.join(pods)} "
                "asked for its GPUs. --quick only looks, also beside work."
            )
        yield
    finally:
        try:
            mine.status_writer.end()
        except LandbridgeError as error:
            out.progress.print(
                f"{mine.member.name} still takes no work: {error} Run it again.", soft_wrap=True, markup=False
            )


def written(mine: Mine, found: Result, out: Output) -> bool:
    """What was found is told in any case, so an error here is, too, and ends nothing."""
    try:
        mine.status_writer.show(found)
    except LandbridgeError as error:
        out.progress.print(f"{mine.member.name} does not show the result: {error}", soft_wrap=True, markup=False)
        return False
    return True


def untested(node: str, found: NoGpu, out: Output) -> int:
    if out.as_json:
        out.document({"machine": node, "node": None, "outcome": "no-gpu", "why": found.why})
    else:
        out.console.print(f"{node}: {found.why}", soft_wrap=True, markup=False)
    return FAILED


def show(node: str, found: Result, shown: str | None, out: Output) -> None:
    if out.as_json:
        out.document(report.document(node, found, shown))
        return
    out.console.print(report.table(found))
    for line in report.lines(node, found):
        out.console.print(line, soft_wrap=True, markup=False)
    if shown:
        out.console.print(f"Node {shown} shows it: `landbridge kubectl describe node {shown}`", soft_wrap=True)
