"""What the autoscaler's cloud side knows of the fleet, and in which order pools are filled: plain data.

The order is the priority expander's: of the groups that would help it takes the one with the highest number. A pool's
zones are asked one after another.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.pools.names import Group, Names, zone_name
from components.pools.node_template import template
from components.pools.spec import PoolSpec
from fleet import autoscaler, prices
from fleet.buckets import resource_group

from .manifests import compact
from .spec import AddOnsSpec

Settings = dict[str, Any]
# Pools' priorities lie this far apart in the expander's numbers: places of a pool's groups go in between.
APART = 100
# etcd takes no larger object (Kubernetes, "ConfigMaps"); the rest of the object needs room, too.
LARGEST_BYTES = 1_000_000


def settings(spec: AddOnsSpec) -> Settings:
    """settings.json as the service reads it. Raises ValueError for what is too large for a ConfigMap."""
    groups = [_group(spec, pool, group) for pool, group in _groups(spec)]
    owners = sorted({group["owner"] for group in groups})
    fleet = spec.fleet
    found = {
        "cluster": spec.cluster.name,
        "region_clouds": {name: fleet.regions[name].cloud for name in autoscaler.regions(fleet, spec.cluster.name)},
        "groups": groups,
        "limits": {
            "pools": {pool.name: {"machines": pool.most} for pool in _pools(spec)},
            "owners": {
                name: _limits(fleet.teams[name].max_gpus, fleet.teams[name].max_usd_per_hour) for name in owners
            },
            "fleet": _limits(fleet.max_gpus, fleet.max_usd_per_hour),
        },
    }
    if in_azure := autoscaler.regions(fleet, spec.cluster.name, "azure"):
        assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
        found["azure"] = {
            "subscription_id": fleet.azure.subscription_id,
            "resource_groups": {name: resource_group(fleet, name) for name in in_azure},
        }
    size = len(compact(found).encode())
    if size > LARGEST_BYTES:
        raise ValueError(
            f"cluster {spec.cluster.name}: the autoscaler's settings have {size} bytes for {len(groups)} scaling "
            f"groups, and a ConfigMap holds {LARGEST_BYTES}. Give the cluster fewer pools or zones"
        )
    return found


def priorities(spec: AddOnsSpec) -> dict[int, list[str]]:
    """Number → exact names, as patterns. All are above 0: the expander takes none below."""
    found: dict[int, list[str]] = {}
    for pool in _pools(spec):
        priority = spec.fleet.pools[pool.name].priority
        for place, group in enumerate(Names(spec.fleet).scaling(pool.name)):
            found.setdefault((priority + 1) * APART - place, []).append(f"^{group.name}$")
    return {number: sorted(found[number]) for number in sorted(found, reverse=True)}


def _pools(spec: AddOnsSpec) -> list[PoolSpec]:
    known = autoscaler.pools(spec.fleet, spec.cluster.name)
    return [pool for pool in spec.pools if pool.name in known]


def _groups(spec: AddOnsSpec) -> Iterator[tuple[PoolSpec, Group]]:
    """By name of the pool, then of the zone."""
    names = Names(spec.fleet)
    return ((pool, group) for pool in _pools(spec) for group in names.scaling(pool.name))


def _group(spec: AddOnsSpec, pool: PoolSpec, group: Group) -> Mapping[str, Any]:
    return {
        "name": group.name,
        "pool": pool.name,
        "owner": pool.owner,
        "region": pool.place,
        "least": group.least,
        "most": group.most,
        "gpus": pool.hardware.gpus,
        "price_usd": prices.machine(spec.fleet, pool.name),
        "template": _template(spec, pool, group),
    }


def _template(spec: AddOnsSpec, pool: PoolSpec, group: Group) -> Mapping[str, Any]:
    """In the first of the group's zones."""
    azure = spec.fleet.regions[pool.place].cloud == "azure"
    zone = zone_name(spec.fleet, pool.place, group.zones[0])
    return template(pool, zone, provider_id=f"azure:///{group.name}" if azure else "")


def _limits(gpus: int | None, dollars: float | None) -> Mapping[str, Any]:
    return {"gpus": gpus, "price_usd": dollars}
