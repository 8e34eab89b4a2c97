"""What an update looks at: the cluster, its machines and pools, and who asks its API for what."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from fleet import windows
from fleet.image_names import STABLE
from fleet.maintenance import PATH
from fleet.world import World
from landbridge.cluster import freeze, info
from landbridge.cluster.kube import Kube, KubeError
from landbridge.cluster.machines import State
from landbridge.cluster.session import Session
from landbridge.image import stores
from landbridge.pool import cloud as scaling
from landbridge.pool import listing, usage
from local import kubernetes
from stacks.catalogue import catalogue, cluster_of

from . import checks, steps
from .checks import Deprecated

# A line of an API server's metrics, and the moment that its process began, by which servers are told apart.
LINE = re.compile(r"^apiserver_requested_deprecated_apis\{(.*)\} 1$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
BEGAN = re.compile(r"^process_start_time_seconds (\S+)$", re.MULTILINE)
# The balancer chooses: with so many tries to each of two or three servers none is missed in practice.
TRIES = 12


def for_choice(session: Session) -> tuple[str, list[str], str, set[str]]:
    """What is published, what API servers have, what the fleet file says, and what there are images of."""
    found = session.cloud.machines(session.info)
    servers = [found[one.name].kubernetes for one in session.info.api if one.name in found]
    file = session.world.fleet.clusters[session.info.name].kubernetes
    return session.info.kubernetes, servers, file, known_versions(session)


def known_versions(session: Session) -> set[str]:
    """Those that machines at home have a promoted image of; the local cloud makes its own."""
    if session.place.world == "local":
        return set(kubernetes.VERSIONS)
    home = session.info.region
    pointers = stores.in_regions(session.world, session.place, [home]).pointers(home)
    return {one.key.kubernetes for one in pointers if (one.key.variant, one.key.channel) == ("cpu", STABLE)}


def for_checks(session: Session, target: str, machines: Mapping[str, State]) -> checks.Seen:
    """Raises LandbridgeError."""
    kube = session.admin
    found = freeze.frozen(kube)
    return checks.Seen(
        target=target,
        machines={name: one.ails for name, one in machines.items()},
        nodes=kube.get("nodes")["items"],
        budgets=kube.get("poddisruptionbudgets", "--all-namespaces")["items"],
        deprecated=deprecated(kube, len(session.info.api)),
        lacking=[*lacking(session, target)],
        frozen=f"since {found.get('since')}: {found.get('why')}" if found is not None else "",
        planned=planned(kube),
    )


def deprecated(kube: Kube, servers: int) -> list[Deprecated]:
    """What any server was asked for, as far as the balancer leads to all of them."""
    began, found = set[str](), set[Deprecated]()
    for _ in range(TRIES):
        text = kube.done("get", "--raw=/metrics")
        began.update(BEGAN.findall(text))
        found.update(asked_for(text))
        if len(began) >= servers:
            break
    return sorted(found)


def asked_for(metrics: str) -> Iterator[Deprecated]:
    for line in LINE.findall(metrics):
        told = dict(LABEL.findall(line))
        if told.get("removed_release"):
            yield Deprecated(told["group"], told["version"], told["resource"], told["removed_release"])


def lacking(session: Session, target: str) -> Iterator[str]:
    """Channels of the cluster's own machines and of its pools that name no image with the target."""
    if session.place.world == "local":
        return  # `up` makes them
    if not session.cloud.image(session.info.fleet, target):
        yield session.cloud.channel(session.info.fleet, target)
    later = replace(session, world=at_version(session.world, session.info.name, target))
    pools = {name: pool for name, pool in later.world.fleet.pools.items() if pool.cluster == session.info.name}
    for region in sorted({pool.region for pool in pools.values() if pool.region}):
        cloud = scaling.at(later, region)
        wanted = {cloud.parameter(name) for name, pool in pools.items() if pool.region == region}
        yield from (f"{one} in {region}" for one in sorted(wanted - cloud.values(wanted).keys()))


def at_version(world: World, cluster: str, version: str) -> World:
    told = world.fleet.clusters[cluster].model_copy(update={"kubernetes": version})
    return replace(world, fleet=world.fleet.model_copy(update={"clusters": {**world.fleet.clusters, cluster: told}}))


def planned(kube: Kube) -> list[str]:
    """Plans that have begun somewhere; none in a cluster without the add-on."""
    try:
        found = json.loads(kube.done("get", f"--raw={PATH}"))["items"]
    except KubeError as error:
        if error.missing:
            return []
        raise
    begun = [one for one in found if (one.get("status") or {}).get("phase") in ("closed", "draining", "drained")]
    return [f"{one['metadata']['name']}: {one['spec']['why']}" for one in begun]


def for_steps(session: Session, target: str, machines: Mapping[str, State]) -> steps.Seen:
    """Raises LandbridgeError."""
    now = datetime.now(UTC)
    world, name = session.world, session.info.name
    nodes = usage.by_pool(session.admin)
    pools = {
        one.pool: steps.Pool(
            place=one.place,
            site=one.site,
            joins=one.kind != "ssh",
            kubelets={checks.name(node): checks.kubelet(node) for node in nodes.get(one.pool, ())},
            older=one.image.older if one.image else 0,
        )
        for one in listing.look(session)
    }
    where = {name: ("", session.info.region), **{pool: (pool, one.place) for pool, one in pools.items()}}
    return steps.Seen(
        cluster=name,
        target=target,
        file=world.fleet.clusters[name].kubernetes,
        published=session.info.kubernetes,
        machines={name: one.kubernetes for name, one in machines.items()},
        behind=[name for name, one in machines.items() if one.behind],
        followers=followers(session),
        pools=pools,
        opens={what: opens(world, *place, now) for what, place in where.items()},
    )


def following(world: World, cluster: str) -> Sequence[str]:
    """Stacks whose machines or add-ons are of the cluster's version."""
    found = []
    for spec in catalogue(world.fleet):
        of = world.fleet.pools[spec.name].cluster if spec.kind == "pool" else cluster_of(spec.name)
        if spec.kind in ("pool", "addons") and of == cluster:
            found.append(spec.name)
    return found


def followers(session: Session) -> dict[str, str]:
    """Those of them that are up, with the version that they have published."""
    found = {one: info.published(session.place, one) for one in following(session.world, session.info.name)}
    return {one: str(published.get("kubernetes", "")) for one, published in found.items() if published}


def opens(world: World, pool: str, place: str, now: datetime) -> datetime | None:
    """When work may begin there; None for now. A day that never comes is far away."""
    told = world.fleet.maintenance
    found = windows.opens(windows.of(told, pool, place), told.frozen, now)
    return None if found is not None and found <= now else found or datetime.max.replace(tzinfo=UTC)
