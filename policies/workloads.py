"""What runs in clusters has somewhere to run: a pool whose nodes have the labels and the GPUs that it asks for."""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet import shapes
from fleet.model import Fleet, Pool
from fleet.world import World

from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, values

POD = "spec.template.spec"
# Type → where its pods are described.
WORKLOADS = {
    "kubernetes:apps/v1:Deployment": (POD,),
    "kubernetes:apps/v1:StatefulSet": (POD,),
    "kubernetes:apps/v1:DaemonSet": (POD,),
    "kubernetes:batch/v1:Job": (POD,),
    "kubernetes:batch/v1:CronJob": ("spec.jobTemplate.spec.template.spec",),
}
DOMAIN, GPU = "landbridge.dev/", "nvidia.com/gpu"
PRESENT = "nvidia.com/gpu.present"
REQUIRED = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
REMEDY = "Declare such a pool in the fleet file, or ask for what one has"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    places = {name: labels(world.fleet, name, pool) for name, pool in world.fleet.pools.items() if pool.kind != "ssh"}
    for item in of_types(found, WORKLOADS):
        for path in WORKLOADS[item.type]:
            for pod in values(item.props, path):
                yield from _pod(item, path, pod, places, world)


def _pod(item: Item, path: str, pod: Any, places: Mapping[str, Mapping[str, str]], world: World) -> Iterator[Finding]:
    constraints = UNKNOWN if pod is UNKNOWN else [(pod or {}).get("nodeSelector"), *values(pod or {}, REQUIRED)]
    wanted = UNKNOWN if pod is UNKNOWN else [*values(pod or {}, "containers.resources")]
    if unknown_in(constraints) or unknown_in(wanted):
        yield undecidable(item, path)
        return
    count = sum(int(((one or {}).get("limits") or {}).get(GPU, 0)) for one in wanted)
    if not (count or _words(constraints)):
        return
    fitting = [
        name for name, node_labels in places.items() if _fits(node_labels, constraints[0] or {}, constraints[1:])
    ]
    most = max((_gpus(world.fleet, world.fleet.pools[name]) for name in fitting), default=0)
    if not fitting:
        what = f"no pool of the fleet has nodes with the labels that its pods ask for ({_words(constraints)})"
        yield finding(item, path, f"it has nowhere to run: {what}", REMEDY)
    elif count > most:
        what = f"a pod asks for {count} GPUs, and a machine of {', '.join(fitting)} has {most} at most"
        yield finding(item, path, f"it has nowhere to run: {what}", REMEDY)


def labels(fleet: Fleet, name: str, pool: Pool) -> dict[str, str]:
    """Those of ours that all nodes of a pool have; components/pools/labels.py sets them, and a test compares."""
    found = {
        f"{DOMAIN}pool": name,
        f"{DOMAIN}kind": pool.kind,
        f"{DOMAIN}owner": pool.owner,
        f"{DOMAIN}place": pool.region or pool.site or "",
    }
    if _gpus(fleet, pool):
        host = fleet.sites[pool.site].hosts[pool.hosts[0]] if pool.site else None
        model = host.gpu if host else shapes.gpu(fleet, pool)
        found |= {PRESENT: "true", **({f"{DOMAIN}gpu": model} if model else {})}
    if fleet.sites[pool.site].hosts[pool.hosts[0]].rdma if pool.site else shapes.rdma(fleet, pool):
        found[f"{DOMAIN}rdma"] = "true"
    return found


def _gpus(fleet: Fleet, pool: Pool) -> int:
    return max((fleet.sites[pool.site].hosts[host].gpus for host in pool.hosts), default=0) if pool.site else pool.gpus


def _fits(node_labels: Mapping[str, str], selector: Mapping[str, str], terms: list[Any]) -> bool:
    """Labels that are not ours (zones, host names) may be anything."""
    if any(_ours(key) and node_labels.get(key) != value for key, value in selector.items()):
        return False
    terms = [term for term in terms if term]
    return not terms or any(
        all(_meets(node_labels, one) for one in term.get("matchExpressions") or () if _ours(one.get("key")))
        for term in terms
    )


def _meets(node_labels: Mapping[str, str], expression: Mapping[str, Any]) -> bool:
    key, listed = node_labels.get(expression["key"]), expression.get("values") or ()
    return {
        "In": key in listed,
        "NotIn": key not in listed,
        "Exists": key is not None,
        "DoesNotExist": key is None,
    }.get(expression["operator"], True)


def _ours(key: Any) -> bool:
    return str(key).startswith(DOMAIN) or key == PRESENT


def _words(constraints: Any) -> str:
    selector = [f"{key}={value}" for key, value in (constraints[0] or {}).items() if _ours(key)]
    terms = [
        f"{one['key']} {one['operator']} {', '.join(one.get('values') or ())}".strip()
        for term in constraints[1:]
        for one in (term or {}).get("matchExpressions") or ()
        if _ours(one.get("key"))
    ]
    return "; ".join([*selector, *terms])
