"""A pool's machines as a roll sees them: what the cloud says of each, what its node says, and what runs there."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from landbridge.cluster.session import Session
from landbridge.image.burn_in import node_status as burn_in
from landbridge.site import nodes
from landbridge.site.nodes import Node

from . import eviction, rolling_taint, usage
from . import groups as scaling
from .images import Wanted
from .listing import failed
from .regions import About
from .roll_plan import State
from .sizes import Group, Machine
from .usage import Pod

# The autoscaler's own taint on a machine that it is about to end, and its prefix for what a node waits for at first.
CLAIMED, STARTING = "ToBeDeletedByClusterAutoscaler", "startup-taint.cluster-autoscaler.kubernetes.io/"


class Look(NamedTuple):
    """One look. `uids` are of the machines' pods, by NAMESPACE/NAME; `leaving` are those on their way out."""

    groups: Sequence[Group]
    states: Mapping[str, State]
    nodes: Mapping[str, Node]
    uids: Mapping[str, str]
    leaving: frozenset[str]


def look(session: Session, pool: str, wanted: Wanted) -> Look:
    """Raises LandbridgeError."""
    region = session.world.fleet.pools[pool].region
    assert region is not None
    groups = scaling.of_pool(session, pool)
    known = scaling.about(session, region, [one.name for group in groups for one in group.live])
    # Pods after nodes: a node that joins in between has none that are not seen.
    there, pods = usage.of_pool(session.admin, pool), usage.pods(session.admin)
    found = list(states(groups, known, there, pods, wanted))
    mine = [pod for state in found for pod in pods.get(state.name, ())]
    uids = {eviction.name(pod): str(pod["metadata"]["uid"]) for pod in mine}
    gone = frozenset(eviction.name(pod) for pod in mine if eviction.leaving(pod))
    return Look(groups, {state.name: state for state in found}, there, uids, gone)


def states(
    groups: Sequence[Group],
    known: Mapping[str, About],
    there: Mapping[str, Node],
    pods: Mapping[str, Sequence[Pod]],
    wanted: Wanted,
) -> Iterator[State]:
    for group in groups:
        for one in group.live:
            yield state(group, one, known.get(one.name), there.get(one.name), pods.get(one.name, ()), wanted)


def state(
    group: Group,
    machine: Machine,
    instance: About | None,
    node: Node | None,
    pods: Sequence[Pod],
    wanted: Wanted,
) -> State:
    mine = [pod for pod in pods if eviction.matters(pod)]
    movable = sorted(eviction.name(pod) for pod in mine if eviction.movable(pod))
    image = instance.image if instance else ""
    taints = [taint["key"] for taint in node["spec"].get("taints", ())] if node else []
    return State(
        name=machine.name,
        group=group.name,
        launched=instance.launched if instance else datetime.max.replace(tzinfo=UTC),
        life=machine.state,
        image=image,
        behind=wanted.behind(machine, image),
        joined=node is not None,
        ready=nodes.ready(node),
        failed=node is not None and failed(node),
        starting=any(key.startswith(STARTING) or key == burn_in.RUNNING.key for key in taints),
        work=tuple(sorted(eviction.name(pod) for pod in mine if not eviction.movable(pod))),
        movable=tuple(movable),
        until=rolling_taint.until(node) if node else None,
        draining=any(eviction.leaving(pod) for pod in mine),
        claimed=CLAIMED in taints,
    )
