"""What a roll writes on nodes: a taint that keeps new work off, and since when, why and until when the old may stay."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from components.pools.labels import DOMAIN, ROLLING
from fleet.maintenance import ROLLING_UNTIL, ROLLING_WHY
from landbridge.cluster.kube import Kube, KubeError
from landbridge.site import nodes
from landbridge.site.nodes import Node

SINCE, WHY, UNTIL = f"{DOMAIN}/rolling-since", ROLLING_WHY, ROLLING_UNTIL


def tainted(node: Node, key: str = ROLLING.key) -> bool:
    return any(taint["key"] == key for taint in node["spec"].get("taints", ()))


def marked(node: Node) -> bool:
    return tainted(node) or any(name in annotations(node) for name in (SINCE, WHY, UNTIL))


def annotations(node: Node) -> Mapping[str, str]:
    return node["metadata"].get("annotations") or {}


def until(node: Node) -> datetime | None:
    try:
        return datetime.fromisoformat(annotations(node)[UNTIL])
    except (KeyError, ValueError):
        return None


def wanted(node: Node, why: str, deadline: timedelta, now: datetime) -> dict[str, str]:
    """The annotations of a node that is to go. One that was to go for the same reason before keeps its time: a roll
    that goes on gives nobody longer, and another deadline counts from the same moment.
    """
    known = annotations(node)
    since = now
    if known.get(WHY) == why:
        try:
            since = datetime.fromisoformat(known[SINCE])
        except (KeyError, ValueError):
            since = now
    return {SINCE: _text(since), WHY: why, UNTIL: _text(since + deadline)}


def stands(node: Node, values: Mapping[str, str]) -> bool:
    """Whether nothing is to be written."""
    return tainted(node) and all(annotations(node).get(name) == value for name, value in values.items())


def put(kube: Kube, node: Node, values: Mapping[str, str]) -> bool:
    """Whether it was written: not if the node has changed since it was read."""
    taint = {"key": ROLLING.key, "value": ROLLING.value, "effect": ROLLING.effect}
    return _written(kube, node, [*_others(node), taint], values)


def lift(kube: Kube, node: Node, *, forget: bool) -> bool:
    """Takes the taint away, and with `forget` the annotations."""
    return _written(kube, node, _others(node), dict.fromkeys((SINCE, WHY, UNTIL)) if forget else {})


def _others(node: Node) -> list[Mapping[str, Any]]:
    return [taint for taint in node["spec"].get("taints", ()) if taint["key"] != ROLLING.key]


def _written(kube: Kube, node: Node, taints: Sequence[Mapping[str, Any]], values: Mapping[str, str | None]) -> bool:
    """The version is compared: a list of taints is written whole, and somebody else's must not get lost."""
    about = {"resourceVersion": node["metadata"]["resourceVersion"], "annotations": dict(values)}
    try:
        nodes.patch(kube, node["metadata"]["name"], {"metadata": about, "spec": {"taints": list(taints) or None}})
    except KubeError as error:
        if error.missing or "Conflict" in error.result.err or "has been modified" in error.result.err:
            return False
        raise
    return True


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
