"""What runs inside clusters: a NetworkPolicy that nothing enforces is a promise that nobody keeps."""

from collections.abc import Iterator
from typing import Any

from fleet.world import World

from .reading import UNKNOWN, Finding, Item, finding, undecidable, unknown_in

POLICY, DAEMONS = "kubernetes:networking.k8s.io/v1:NetworkPolicy", "kubernetes:apps/v1:DaemonSet"
NAME = "app.kubernetes.io/name"
# Programs that make NetworkPolicies hold, by the name label of their daemon set. flannel itself does not.
ENGINES = ("kube-network-policies",)
POD = "spec.template.spec"
REMEDY = f"Register the engine ({' or '.join(ENGINES)}) in the same stack, as components/addons does"


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    policies = [item for item in found if item.type == POLICY]
    if not policies:
        return
    daemons = [item for item in found if item.type == DAEMONS]
    names = {item.urn: _within(item.props, f"metadata.labels.{NAME}") for item in daemons}
    engines = [item for item in daemons if names[item.urn] in ENGINES]
    if not engines:
        unknown = [item for item in daemons if names[item.urn] is UNKNOWN]
        yield from (undecidable(item, f"metadata.labels.{NAME}") for item in unknown)
        if not unknown:
            for item in policies:
                yield finding(
                    item, "spec", "the cluster has no engine for a NetworkPolicy: nothing enforces it", REMEDY
                )
    for engine in engines:
        yield from _everywhere(engine)


def _everywhere(engine: Item) -> Iterator[Finding]:
    """A node without the engine is one where no policy holds."""
    pod = _within(engine.props, POD)
    if unknown_in(pod):
        yield undecidable(engine, POD)
        return
    for part in ("nodeSelector", "affinity"):
        if pod.get(part):
            what = f"the engine of NetworkPolicies has the {part} {pod[part]}: it is not on every node"
            yield finding(engine, f"{POD}.{part}", what, "Leave it out")
    if not any(one.get("operator") == "Exists" and not one.get("key") for one in pod.get("tolerations") or ()):
        what = "the engine of NetworkPolicies does not tolerate every taint: it is not on every node"
        yield finding(engine, f"{POD}.tolerations", what, "Tolerate all: an entry with operator Exists and no key")


def _within(value: Any, path: str) -> Any:
    """What stands at a path; the last part may have dots of its own."""
    head, _, rest = path.partition(".")
    if value is UNKNOWN or value is None:
        return value
    if path in value or not rest:
        return value.get(path)
    return _within(value.get(head), rest)
