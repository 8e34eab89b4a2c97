"""What a node shows of its burn-in: a taint, a condition, a label and an annotation. Pure patches, and who writes them.

The taint is of its own key: that of missing GPUs belongs to the joining service, which takes it away as soon as all
GPUs are advertised, and burn-in's must outlive that.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from components.pools.labels import DOMAIN, GPU_BURN_IN, STATUS, Taint
from images.burn_in.findings import Kind, Outcome, Result
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError

# The value says which kind of burn-in has set it: a quick one does not answer what a full one has found.
FAILED: dict[Kind, Taint] = {
    "full": GPU_BURN_IN,
    "quick": GPU_BURN_IN._replace(value="burn-in-quick"),
}
RUNNING = Taint(f"{STATUS}/gpu-burn-in", "running", "NoSchedule")
CONDITION = "GPUBurnInFailed"
LABEL = ANNOTATION = f"{DOMAIN}/gpu-burn-in"
WORDS: dict[Outcome, str] = {"passed": "passed", "failed": "failed", "error": "not-judged", "left out": "not-judged"}
# API servers take 32 KiB; people read a line or two.
MESSAGE_SIGNS = 1000
TRIES, PAUSE_SECONDS = 6, 0.3
Node = Mapping[str, Any]
Json = dict[str, Any]


class Patches(NamedTuple):
    """`node` is a merge patch, `status` a strategic one of its status; None where nothing is to be said there."""

    node: Json
    status: Json | None


def running(node: Node) -> Json:
    """Nothing new is scheduled there while its GPUs are under load."""
    return {"metadata": _version(node), "spec": {"taints": [*_others(node, RUNNING.key), _plain(RUNNING)]}}


def not_running(node: Node) -> Json | None:
    """Takes that away again; None where it is not there."""
    rest = _others(node, RUNNING.key)
    if len(rest) == len(_taints(node)):
        return None
    return {"metadata": _version(node), "spec": {"taints": rest or None}}


def result(node: Node, found: Result) -> Patches:
    """A failure taints; a pass takes burn-in's taint away, a quick one only a quick one's; an error does neither."""
    before = next((one for one in _taints(node) if one["key"] == FAILED["full"].key), None)
    stays = before is not None and not (
        found.outcome == "passed" and (found.kind == "full" or before.get("value") == FAILED["quick"].value)
    )
    taints = _others(node, FAILED["full"].key, RUNNING.key)
    if stays and before is not None and (before.get("value") == FAILED["full"].value or found.outcome != "failed"):
        taints.append(before)
    elif found.outcome == "failed":
        taints.append(_plain(FAILED[found.kind]))
    # What a full burn-in has found is still so, whatever a quick one or one that judged nothing says.
    quiet = stays and found.outcome != "failed"
    word = WORDS[found.outcome] + ("-quick" if found.kind == "quick" else "")
    annotation = {"at": _moment(found.at), "kind": found.kind, "outcome": WORDS[found.outcome], "digest": found.digest}
    patch = {
        "metadata": {
            **_version(node),
            "annotations": {ANNOTATION: json.dumps(annotation, sort_keys=True)},
            # A pass of a day ago is none any more once something else was found since.
            "labels": {LABEL: WORDS["failed"] if quiet else word},
        },
        "spec": {"taints": taints or None},
    }
    return Patches(patch, None if quiet else {"status": {"conditions": [condition(node, found)]}})


def condition(node: Node, found: Result) -> Json:
    """Names the part: `kubectl describe node` shows it."""
    status = {"passed": "False", "failed": "True"}.get(found.outcome, "Unknown")
    now = _moment(found.at)
    conditions = node.get("status", {}).get("conditions", ())
    before: Json = next((one for one in conditions if one["type"] == CONDITION), {})
    return {
        "type": CONDITION,
        "status": status,
        "reason": _reason(found),
        "message": message(found),
        "lastHeartbeatTime": now,
        "lastTransitionTime": before["lastTransitionTime"] if before.get("status") == status else now,
    }


def _reason(found: Result) -> str:
    if not found.bad:
        return "Passed"
    return "".join(word.capitalize() for word in found.bad[0].test.split("_"))


def message(found: Result) -> str:
    if not found.bad:
        return f"{found.kind} burn-in of {len(found.gpus)} GPUs passed at {_moment(found.at)}, {found.digest[:12]}"
    return _cut([one.summary for one in found.bad])


def _cut(lines: Sequence[str]) -> str:
    """As many whole ones as there is room for, the first one always."""
    fitting: list[str] = []
    for line in lines:
        if fitting and sum(map(len, fitting)) + len(line) > MESSAGE_SIGNS:
            return f"{'; '.join(fitting)}; and {len(lines) - len(fitting)} more"
        fitting.append(line[:MESSAGE_SIGNS])
    return "; ".join(fitting)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _version(node: Node) -> Json:
    """Compared by the API server, so that nobody else's taint gets lost."""
    return {"resourceVersion": node["metadata"]["resourceVersion"]}


def _taints(node: Node) -> list[Json]:
    return [dict(one) for one in node.get("spec", {}).get("taints", ())]


def _others(node: Node, *keys: str) -> list[Json]:
    return [one for one in _taints(node) if one["key"] not in keys]


def _plain(taint: Taint) -> Json:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


class NodeStatusWriter:
    """Writes them to one node. Raises KubeError, and LandbridgeError for a node that changes all the time."""

    def __init__(self, kube: Kube, name: str) -> None:
        self.kube, self.name = kube, name

    def begin(self) -> None:
        self._written(lambda node: Patches(running(node), None))

    def end(self) -> None:
        """What `begin` did; after `show` there is nothing left of it."""
        self._written(lambda node: Patches(patch, None) if (patch := not_running(node)) else None)

    def show(self, found: Result) -> None:
        self._written(lambda node: result(node, found))

    def _written(self, patches: Callable[[Node], Patches | None]) -> None:
        for _ in range(TRIES):
            wanted = patches(self.kube.get("node", self.name))
            if wanted is None:
                return
            try:
                self._patch(wanted.node, "--type=merge")
                # Conditions are merged by their type, so nobody else's can get lost.
                if wanted.status is not None:
                    self._patch(wanted.status, "--subresource=status", "--type=strategic")
                return
            except KubeError as error:
                if "Conflict" not in error.result.err and "has been modified" not in error.result.err:
                    raise
            time.sleep(PAUSE_SECONDS)
        raise LandbridgeError(f"Node {self.name} changes all the time: its burn-in could not be written. Run it again.")

    def _patch(self, wanted: Mapping[str, Any], *flags: str) -> None:
        self.kube.done("patch", "node", self.name, *flags, f"--patch={json.dumps(wanted)}")
