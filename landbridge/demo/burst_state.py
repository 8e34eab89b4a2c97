"""A burst as it stands at one moment, pool by pool, and what a row of such looks tells."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from fleet.model import Fleet, Pool
from landbridge.cluster.session import Session
from landbridge.pool import cloud as clouds
from landbridge.pool import groups as scaling
from landbridge.pool import usage
from landbridge.pool.sizes import Group
from landbridge.site import nodes


class Look(NamedTuple):
    """One pool. `asked` and `machines` are its scaling groups' sizes and what they have; a site has its hosts.

    `gpus` are what running pods of the burst hold there, `names` those of machines in clouds.
    """

    asked: int
    machines: int
    ready: int
    gpus: int
    failure: str = ""
    names: frozenset[str] = frozenset()


class Moments(NamedTuple):
    """Seconds since the burst began, None for what never was: the last rise of `asked`, the first GPU at work, and
    when the most of them were first.
    """

    asked: float | None
    first: float | None
    most: float | None


Looks = Mapping[str, Look]


def pools(fleet: Fleet, cluster: str) -> dict[str, Pool]:
    """Those for GPU work, as they fill up: sites, then by priority."""
    mine = {name: pool for name, pool in fleet.pools.items() if pool.cluster == cluster and pool.kind == "gpu"}
    return dict(sorted(mine.items(), key=lambda one: (one[1].site is None, -one[1].priority)))


def gpus(fleet: Fleet, pool: Pool) -> int:
    """Of one of its machines."""
    return fleet.sites[pool.site].hosts[pool.hosts[0]].gpus if pool.site else pool.gpus


def shares(room: Mapping[str, int], wanted: int) -> dict[str, int]:
    """How many of the GPUs each pool gets if all goes well: the first as many as it has room for, and so on."""
    left, found = wanted, {}
    for name, free in room.items():
        found[name] = min(free, left)
        left -= found[name]
    return found


def groups(session: Session, mine: Mapping[str, Pool]) -> dict[str, Sequence[Group]]:
    """By pool, of those in clouds. Raises RegionError."""
    regions = {pool.region for pool in mine.values() if pool.region}

    def ask(region: str) -> dict[str, list[Group]]:
        return scaling.of_region(session, region, [name for name, pool in mine.items() if pool.region == region])

    with ThreadPoolExecutor(max(1, len(regions))) as threads:
        return {name: found for some in threads.map(ask, sorted(regions)) for name, found in some.items()}


def look(session: Session, mine: Mapping[str, Pool], selector: str) -> dict[str, Look]:
    """Of the burst whose pods have the labels of `selector`. Raises LandbridgeError."""
    found, there = groups(session, mine), usage.by_pool(session.admin)
    pods = session.admin.get("pods", "--namespace=default", f"--selector={selector}")["items"]
    home = {node["metadata"]["name"]: pool for pool, some in there.items() for node in some}
    return {
        name: of_pool(name, pool, found.get(name, ()), there.get(name, ()), pods, home) for name, pool in mine.items()
    }


def of_pool(
    name: str,
    pool: Pool,
    found: Sequence[Group],
    there: Sequence[nodes.Node],
    pods: Sequence[usage.Pod],
    home: Mapping[str, str],
) -> Look:
    mine = [one for one in pods if home.get(str(one["spec"].get("nodeName"))) == name]
    return Look(
        asked=len(pool.hosts) if pool.site else sum(group.desired for group in found),
        machines=len(there) if pool.site else sum(len(group.machines) for group in found),
        ready=sum(nodes.ready(node) for node in there),
        gpus=sum(usage.gpus(one) for one in mine if one["status"].get("phase") == "Running"),
        failure=next((group.failure for group in found if group.failure), ""),
        names=frozenset(machine.name for group in found for machine in group.machines),
    )


def moments(row: Sequence[tuple[float, Looks]], pool: str) -> Moments:
    """Of one pool, out of the looks of a burst in the order of time, with their seconds."""
    samples = [(seconds, looks[pool]) for seconds, looks in row]
    before = [samples[0][1], *(one for _, one in samples)] if samples else []
    rises = [seconds for (seconds, now), was in zip(samples, before, strict=False) if now.asked > was.asked]
    most = max((one.gpus for _, one in samples), default=0)
    busy = [(seconds, one.gpus) for seconds, one in samples if one.gpus]
    return Moments(
        asked=rises[-1] if rises else None,
        first=busy[0][0] if busy else None,
        most=next((seconds for seconds, number in busy if number == most), None),
    )


def launched(session: Session, mine: Mapping[str, Pool]) -> dict[str, frozenset[str]]:
    """Names of all machines of pools that their cloud still knows, by AWS ended ones too. Raises RegionError."""
    return {
        name: frozenset(clouds.at(session, pool.region).launched(name)) for name, pool in mine.items() if pool.region
    }
