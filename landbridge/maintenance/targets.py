"""Which machines somebody means, and whom it hurts. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from components.pools import labels
from fleet.maintenance import LABELS, TAINT, TARGETS
from fleet.model import Fleet
from fleet.team_storage import namespace
from landbridge.errors import UsageError
from landbridge.pool.eviction import matters

Node = Mapping[str, Any]
Pod = Mapping[str, Any]
FORMS = "Write a node's name, or one of: " + ", ".join(f"{kind} NAME" for kind in TARGETS[1:])


class Target(NamedTuple):
    """`nodes` are those that are there now."""

    kind: str
    name: str
    nodes: Sequence[Node]

    def __str__(self) -> str:
        return self.name if self.kind == "node" else f"{self.kind} {self.name}"


class Impact(NamedTuple):
    """`work` are pods by team, "" for those of no team. GPUs: of the target, in use there, and free elsewhere."""

    nodes: int
    work: Mapping[str, int]
    gpus: int
    used_gpus: int
    free_gpus: int
    for_sale_gpus: int


def target(words: Sequence[str], fleet: Fleet, cluster: str, nodes: Sequence[Node]) -> Target:
    """Raises UsageError."""
    kind, name = ("node", words[0]) if len(words) == 1 else (words[0], words[1])
    kind = kind.removesuffix("s") if kind not in TARGETS else kind
    if kind not in TARGETS:
        raise UsageError(f"{kind} is nothing that machines are planned by. {FORMS}.")
    known = names(kind, fleet, cluster, nodes)
    if name not in known and kind == "node":
        # A site's host is called by its own name, too, and machines by their clouds' ids.
        name = next((one for one in known if one.endswith(f"-{name}") or one.partition(".")[0] == name), name)
    if name not in known:
        close = get_close_matches(name, known, 1)
        hint = f"Perhaps you mean {close[0]}" if close else f"Known: {', '.join(sorted(known)[:10]) or 'none'}"
        raise UsageError(f"{cluster} has no {kind} {name}. {hint}. {FORMS}.")
    return Target(kind, name, [one for one in nodes if _is(one, kind, name)])


def names(kind: str, fleet: Fleet, cluster: str, nodes: Sequence[Node]) -> list[str]:
    pools = {name: pool for name, pool in fleet.pools.items() if pool.cluster == cluster and pool.kind != "ssh"}
    if kind == "node":
        return [str(one["metadata"]["name"]) for one in nodes]
    if kind == "pool":
        return [*pools]
    if kind == "zone":
        return sorted({str(_label(one, labels.ZONE)) for one in nodes} - {""})
    if kind == "region":
        return sorted({pool.region for pool in pools.values() if pool.region})
    return sorted({pool.site for pool in pools.values() if pool.site})


def impact(chosen: Target, fleet: Fleet, nodes: Sequence[Node], pods: Sequence[Pod]) -> Impact:
    there = {str(one["metadata"]["name"]) for one in chosen.nodes}
    spaces = {namespace(team): team for team in fleet.teams}
    live = [one for one in pods if matters(one)]
    on = [one for one in live if one["spec"].get("nodeName") in there]
    work = Counter(spaces.get(one["metadata"]["namespace"], "") for one in on)
    used = Counter[str]()
    for one in live:
        used[str(one["spec"].get("nodeName") or "")] += asked(one)
    elsewhere = [one for one in nodes if one["metadata"]["name"] not in there and not shut(one)]
    free = sum(max(0, gpus(one) - used[str(one["metadata"]["name"])]) for one in elsewhere)
    return Impact(
        len(there),
        dict(work),
        sum(gpus(one) for one in chosen.nodes),
        sum(used[name] for name in there),
        free,
        for_sale(chosen, fleet, nodes),
    )


def for_sale(chosen: Target, fleet: Fleet, nodes: Sequence[Node]) -> int:
    """GPUs of machines that the autoscaler may still buy, elsewhere."""
    have = Counter(str(_label(one, labels.POOL)) for one in nodes)
    return sum(
        max(0, pool.max - have[name]) * pool.gpus
        for name, pool in fleet.pools.items()
        if pool.region and chosen.name not in (name, pool.region)
    )


def gpus(node: Node) -> int:
    return int((node.get("status", {}).get("allocatable") or {}).get(labels.GPU_RESOURCE, 0))


def asked(pod: Pod) -> int:
    found: Iterable[Mapping[str, Any]] = pod["spec"]["containers"]
    return sum(int((one.get("resources", {}).get("limits") or {}).get(labels.GPU_RESOURCE, 0)) for one in found)


def shut(node: Node) -> bool:
    """Whether new work finds no room there: for other plans, too."""
    ours = (TAINT, labels.ROLLING.key, labels.GPU_BURN_IN.key, labels.GPU_FAILED.key)
    return bool(node["spec"].get("unschedulable")) or any(
        one["key"] in ours for one in node["spec"].get("taints") or ()
    )


def places(nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """Pool and place of each, once."""
    return sorted({(_label(one, labels.POOL), _label(one, labels.PLACE)) for one in nodes})


def _label(node: Node, name: str) -> str:
    return str((node["metadata"].get("labels") or {}).get(name, ""))


def _is(node: Node, kind: str, name: str) -> bool:
    return bool((node["metadata"]["name"] if kind == "node" else _label(node, LABELS[kind])) == name)
