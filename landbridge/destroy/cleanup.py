"""What `destroy` does to a stack beside the engine: its hosts leave, its buckets are emptied, its disks are settled."""

import datetime
from collections.abc import Callable, Collection
from functools import partial

from pulumi.automation import CommandError

from fleet.buckets import in_azure, resource_group
from landbridge.clouds.aws import leftovers as aws_leftovers
from landbridge.cluster import info, node_removal, pod_termination, rebuild_state
from landbridge.cluster.kube import Kube, KubeError
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.queue import unfinished
from landbridge.site import unenrol as site_unenrol
from landbridge.up.run_context import RunContext
from landbridge.up.unchanged.known import outputs
from stacks.catalogue import cluster_of

from . import buckets


def take_down(run: RunContext, name: str) -> None:
    """Raises what the engine raises, and LandbridgeError."""
    dismiss_hosts(run, name)
    end_runs(run, name)
    state = run.engines[name].state()
    machines, workloads = node_removal.of(name, outputs(state)), pod_termination.workloads(state)
    destroy_with_data(run, name)
    if machines and (kube := staying(run, machines.cluster)) and (left := node_removal.remove(kube, machines)):
        run.notes.append(f"{name}: {left}")
    if run.stacks[name].kind == "addons" and (kube := staying(run, cluster_of(name))):
        await_end(run, name, kube, workloads)
    if run.stacks[name].kind == "cluster":
        settle(run, name)
    if name in run.orphans:
        run.engines[name].remove()


def dismiss_hosts(run: RunContext, name: str) -> None:
    """Has a site's hosts leave the cluster of a pool that is destroyed; what is left of them becomes a note."""
    if pool := site_unenrol.of(name, outputs(run.engines[name].state())):
        run.reports[name].current = f"hosts of {pool.site} leave {pool.cluster}"
        try:
            session = Session(run.world, run.place, info.read(run.place, pool.cluster))
        except LandbridgeError:  # never up, or gone: it has no nodes
            return
        run.notes += [f"{name}: {one}" for one in site_unenrol.leave(session, pool, serving=run.how.ignore_protect)]


def end_runs(run: RunContext, name: str) -> None:
    """Has what is in a cluster's queues end, for which Kueue would keep them. What that was becomes a note."""
    if run.stacks[name].kind != "addons" or not (kube := run.api(cluster_of(name))):
        return
    try:
        ended = unfinished.end(kube, run.teller(run.reports[name]))
    except KubeError as error:
        run.notes.append(f"{name}: what is still in its queues was not seen, and keeps them: {error}")
        return
    if ended:
        run.notes.append(f"{name}: ended with its queues: {'; '.join(map(str, ended))}.")


def destroy_with_data(run: RunContext, name: str) -> None:
    """If its people agreed to that, its buckets are empty when they go: once more where something came late."""
    report, loss = run.reports[name], run.how.ignore_protect
    for tries in range(1, buckets.TIMES + 1):
        if loss:
            empty(run, name)
        try:
            run.engines[name].destroy(report.hear, ignore_protect=loss, parallel=run.how.parallel)
        except CommandError:
            late = any(buckets.NOT_EMPTY in problem.message for problem in report.problems)
            if not (loss and late) or run.interrupted or tries == buckets.TIMES:
                raise
            report.problems.clear()
        else:
            break


def staying(run: RunContext, cluster: str) -> Kube | None:
    """The API of a cluster that outlives this run. None where that goes, too, or is not up."""
    return None if cluster in run.stacks else run.api(cluster)


def await_end(run: RunContext, name: str, kube: Kube, workloads: Collection[str]) -> None:
    """Waits until the pods of a cluster's add-ons have ended: the next `up` can make none anew before."""
    try:
        left = pod_termination.await_end(kube, workloads, run.teller(run.reports[name]))
    except LandbridgeError as error:
        run.notes.append(f"{name}: whether all its pods have ended was not seen: {error}")
        return
    if left:
        run.notes.append(
            f"{name}: pods of {', '.join(left)} do not end, and until they have, `up` can't make them anew. Nodes that "
            "do not answer are the usual reason: "
            f"`landbridge kubectl --cluster {cluster_of(name)}{run.place.options} get nodes`."
        )


def empty(run: RunContext, name: str) -> None:
    """The stack's buckets. Raises LandbridgeError."""
    report = run.reports[name]
    for bucket in buckets.buckets(run.engines[name].state()):

        def tell(gone: int, bucket: str = bucket) -> None:
            report.current = f"empties {bucket}: {gone:,} objects and old versions are gone"
            if run.interrupted:
                raise LandbridgeError(f"interrupted while it emptied {bucket}: {gone:,} of its objects are gone")

        if gone := buckets.empty(run.clients(name)("s3"), bucket, tell):
            run.notes.append(f"{name}: {bucket} is emptied of objects and old versions: {gone:,}")
    report.current = ""


def settle(run: RunContext, name: str) -> None:
    """Deals with what a destroyed cluster leaves behind."""
    fleet, today = run.world.fleet.fleet, datetime.datetime.now(datetime.UTC).date()
    cluster = name.removesuffix(rebuild_state.suffix(run.stacks[name].region))
    notes = left(run, name)(fleet, cluster, delete=run.how.with_volumes, today=today)
    run.notes += [f"{name}: {note}" for note in notes]


def left(run: RunContext, name: str) -> Callable[..., list[str]]:
    """What deals with that, in the cloud of the stack's region."""
    fleet, region, subscription = run.world.fleet, run.stacks[name].region, run.subscription(name)
    if not subscription or not (name in run.orphans or in_azure(fleet, region)):
        return partial(aws_leftovers.settle, run.clients(name))
    # A second of imports that few runs need.
    from landbridge.clouds.azure import leftovers as azure_leftovers
    from landbridge.clouds.azure.clients import Clients

    return partial(azure_leftovers.settle, Clients(subscription), resource_group(fleet, region))
