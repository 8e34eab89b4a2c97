"""How the pools of a cluster are: machines, nodes, GPUs, and what ails them in words."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from components.pools.labels import GPU_BURN_IN, GPU_FAILED
from evidence import findings
from evidence.nodes import PRESSURE
from fleet import fitness
from fleet.model import Fleet
from landbridge.cluster.session import Session
from landbridge.site import nodes
from landbridge.site.nodes import Node

from . import groups as scaling
from . import images, rolling_taint, usage
from .groups import RegionError
from .images import Run
from .sizes import Group

NAMED = 3
SICK = {GPU_FAILED.key, GPU_BURN_IN.key}


@dataclass(frozen=True)
class State:
    """One pool. `desired` and `running` are machines, at a site its hosts and those that are nodes.

    `min` and `max` are the fleet file's; a site has as many as hosts. What can't be known is None: nodes of kind ssh,
    machines of a region that does not answer. So is the `image` of hosts, and that of a pool that is not up.
    """

    pool: str
    kind: str
    place: str
    site: bool
    priority: int
    desired: int | None
    running: int | None
    min: int
    max: int
    ready: int | None
    gpus: int
    gpus_used: int
    trouble: tuple[str, ...]
    image: Run | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "image": self.image.as_json() if self.image else None}


class Observations(NamedTuple):
    """What was found of all pools: `groups` by pool, or why a region can't be asked by region."""

    groups: Mapping[str, Sequence[Group]]
    silent: Mapping[str, str]
    nodes: Mapping[str, Sequence[Node]]
    gpus_used: Mapping[str, int]
    images: Mapping[str, Run]


def look(session: Session) -> list[State]:
    """Pools of the session's cluster, in the order of the fleet file. Raises KubeError."""
    fleet = session.world.fleet
    mine = {name: pool for name, pool in fleet.pools.items() if pool.cluster == session.info.name}
    clouds = {pool.region: [n for n, p in mine.items() if p.region == pool.region] for pool in mine.values()}
    regions = {region: names for region, names in clouds.items() if region}
    found, silent, run = dict[str, Sequence[Group]](), dict[str, str](), dict[str, Run]()

    def ask(region: str) -> None:
        try:
            there = scaling.of_region(session, region, regions[region])
            started = images.of_region(session, region, {name: groups for name, groups in there.items() if groups})
            found.update(there)
            run.update(started)
        except RegionError as error:
            silent[region] = str(error)

    with ThreadPoolExecutor(max(1, len(regions))) as threads:
        list(threads.map(ask, regions))
    used = {node: sum(map(usage.gpus, pods)) for node, pods in usage.pods(session.admin).items()}
    observed = Observations(found, silent, usage.by_pool(session.admin), used, run)
    return [state(fleet, name, observed) for name in mine]


def state(fleet: Fleet, name: str, observed: Observations) -> State:
    pool, there = fleet.pools[name], observed.nodes.get(name, ())
    joins, groups = pool.kind != "ssh", observed.groups.get(name)
    place = pool.region or pool.site
    assert place is not None
    ready = [node for node in there if nodes.ready(node)]
    desired: int | None = None
    running: int | None = None
    if pool.site:
        desired, running = len(pool.hosts), len(there) if joins else None
        words = of_hosts(pool.hosts, there) if joins else []
    elif groups:
        desired, running = sum(one.desired for one in groups), sum(len(one.live) for one in groups)
        words = of_groups(groups, there, joins=joins)
    else:
        words = [observed.silent.get(place) or f"not up: `landbridge up {name}`"]
    return State(
        pool=name,
        kind=pool.kind,
        place=place,
        site=pool.site is not None,
        priority=pool.priority,
        desired=desired,
        running=running,
        min=len(pool.hosts) if pool.site else pool.min,
        max=len(pool.hosts) if pool.site else pool.max,
        ready=len(ready) if joins else None,
        gpus=usage.allocatable(there),
        gpus_used=sum(observed.gpus_used.get(node["metadata"]["name"], 0) for node in there),
        trouble=(*words, *of_nodes(there)),
        image=observed.images.get(name),
    )


def of_hosts(hosts: Sequence[str], there: Sequence[Node]) -> list[str]:
    lacking = len(hosts) - len(there)
    return [f"{lacking} of {len(hosts)} hosts not enrolled"] if lacking > 0 else []


def of_groups(groups: Sequence[Group], there: Sequence[Node], *, joins: bool) -> list[str]:
    """Machines that do not come, and those that came and are no nodes."""
    words = [f"{group.name} launches none: {group.failure}" for group in groups if group.failure]
    owed = sum(group.desired - len(group.live) for group in groups if not group.failure and group.desired)
    if owed > 0:
        words.append(f"{owed} machines not launched yet")
    known = {node["metadata"]["name"] for node in there}
    strangers = [machine.name for group in groups for machine in group.live if machine.name not in known]
    if joins and strangers:
        words.append(f"not joined: {named(strangers)}")
    going = [machine.name for group in groups for machine in group.machines if not machine.live]
    return [*words, *([f"on their way out: {named(going)}"] if going else [])]


def of_nodes(there: Sequence[Node]) -> list[str]:
    ailments = defaultdict[str, list[Node]](list)
    for node in there:
        for one in ailing(node):
            ailments[one].append(node)
    found = {
        "not Ready": [node for node in there if not nodes.ready(node)],
        "gpu-failed": [node for node in there if failed(node)],
        "cordoned": [node for node in there if nodes.cordoned(node)],
        "to be replaced": [node for node in there if rolling_taint.tainted(node)],
        **dict(sorted(ailments.items())),
    }
    return [f"{what}: {named([one['metadata']['name'] for one in some])}" for what, some in found.items() if some]


def ailing(node: Node) -> list[str]:
    """Conditions by which its kubelet, or what follows its kernel, says that something is wrong."""
    return [
        one["type"]
        for one in node.get("status", {}).get("conditions", ())
        if one["status"] == "True"
        and (one["type"] in (*PRESSURE, fitness.CONDITION) or one.get("reason") in findings.CODES)
    ]


def failed(node: Node) -> bool:
    """GPUs that do not come, or whose burn-in has found something."""
    return any(taint["key"] in SICK for taint in node["spec"].get("taints", ()))


def named(names: Sequence[str]) -> str:
    """The first of them by name, and how many more."""
    text = ", ".join(sorted(names)[:NAMED])
    return text + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
