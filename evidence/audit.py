"""Who deleted, evicted and cordoned what, and how things were when they went: from the API server's audit log. Pure.

https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .observation import Json, Observation, moment

SOURCE = "audit log"
# Of a pod's status: what of each list is one element's name.
LISTS = {"conditions": "type", "containerStatuses": "name", "initContainerStatuses": "name"}
KINDS = {
    "pods": "pod",
    "jobs": "job",
    "jobsets": "jobset",
    "nodes": "node",
    "namespaces": "namespace",
    "workloads": "workload",
    "deployments": "deployment",
    "replicasets": "replicaset",
    "statefulsets": "statefulset",
}
# Of what is deleted, as seen from the pod.
SEEN = {"pod": "it", "jobset": "its run", "job": "its Job", "namespace": "its namespace", "node": "its node"}
MACHINES = ("system:serviceaccount:", "system:node:", "system:kube-")
# Service accounts that delete pods by their trade → what their deletion shows.
TRADES = {
    "system:serviceaccount:kube-system:generic-garbage-collector": "collected",
    "system:serviceaccount:kube-system:job-controller": "deleted-by-job",
    "system:serviceaccount:kube-system:replicaset-controller": "scaled",
    "system:serviceaccount:kube-system:statefulset-controller": "scaled",
    "system:serviceaccount:kube-system:daemon-set-controller": "scaled",
    "system:serviceaccount:kube-system:namespace-controller": "namespace-deleted",
    "system:serviceaccount:kube-system:pod-garbage-collector": "node-gone",
    "system:serviceaccount:kube-system:node-controller": "taint-manager",
    "system:serviceaccount:kube-system:ttl-after-finished-controller": "collected",
    "system:kube-scheduler": "preempted",
}


# What a line has, as API servers write it, from which `of_entry` makes something.
ACTS = (b'"verb":"delete', b'"subresource":"eviction"', b'"unschedulable":true')


def entries(lines: Iterable[bytes], names: Iterable[str], *, acts: bool = False) -> Iterator[Json]:
    """Those that name one of these objects, and were done. Most of a log is passed over unread.

    `acts`: of names that half of a log has, such as a namespace's, only those of which `of_entry` makes something.
    """
    marks = [f'"{name}"'.encode() for name in names]
    for line in lines:
        if any(mark in line for mark in marks) and (not acts or any(act in line for act in ACTS)):
            try:
                entry = json.loads(line)
            except ValueError:  # the end of a part that a machine did not finish
                continue
            if done(entry):
                yield entry


def done(entry: Json) -> bool:
    """Neither refused nor a dry run."""
    code = (entry.get("responseStatus") or {}).get("code", 0)
    return bool(code < 300 and "dryRun=All" not in entry.get("requestURI", ""))


def of_entry(entry: Json) -> Observation | None:
    """None for what is of no interest: most of what happens."""
    what = entry.get("objectRef") or {}
    kind, sub, verb = KINDS.get(str(what.get("resource"))), what.get("subresource", ""), entry.get("verb")
    if kind is None:
        return None
    user = str((entry.get("user") or {}).get("username"))
    if sub == "eviction" and verb == "create":
        return _seen(entry, kind, by(user, evicts=True), f"evicted by {user}")
    if not sub and verb in ("delete", "deletecollection"):
        return _seen(entry, kind, by(user, evicts=False), f"deleted by {user}")
    if kind == "node" and verb in ("patch", "update") and _cordons(entry) and not user.startswith(MACHINES):
        return _seen(entry, kind, "cordoned", f"cordoned by {user}")
    return None


def _seen(entry: Json, kind: str, code: str, text: str) -> Observation:
    what = entry["objectRef"]
    name = "/".join(part for part in (kind, what.get("namespace", ""), what.get("name", "*")) if part)
    facts = {
        "what": SEEN.get(kind, f"its {kind}"),
        "user": str((entry.get("user") or {}).get("username")),
        "agent": str(entry.get("userAgent") or ""),
        "from": (entry.get("sourceIPs") or [""])[0],
    }
    return Observation(at(entry), SOURCE, name, code, text, str(what.get("uid") or _uid(entry)), facts)


def at(entry: Json) -> float:
    return moment(entry.get("requestReceivedTimestamp") or entry.get("stageTimestamp"))


def _cordons(entry: Json) -> bool:
    return ((entry.get("requestObject") or {}).get("spec") or {}).get("unschedulable") is True


def last_of(found: Iterable[Json], resource: str, namespace: str, name: str) -> dict[str, Any] | None:
    """An object as the log saw it last, from entries in the order of their times: whole ones, and what kubelets added.

    None where it was never there whole.
    """
    thing: dict[str, Any] | None = None
    for entry in found:
        what = entry.get("objectRef") or {}
        if (what.get("resource"), what.get("namespace", "")) != (resource, namespace):
            continue
        # Of what kubelets make the log has what they sent.
        told = (
            entry.get("responseObject") or (entry.get("requestObject") if entry.get("verb") == "create" else None) or {}
        )
        if (told.get("metadata") or {}).get("name") == name and "spec" in told:
            thing = dict(told)
        elif thing is not None and what.get("name") == name and entry.get("verb") == "patch":
            _add(thing, entry.get("requestObject") or {})
    return thing


def _add(thing: dict[str, Any], patch: Json) -> None:
    """A kubelet's patch of a status: lists by their keys, as its API merges them."""
    status = thing["status"] = dict(thing.get("status") or {})
    for name, value in (patch.get("status") or {}).items():
        if key := LISTS.get(name):
            before = {one[key]: one for one in status.get(name) or []}
            for one in value:
                before[one[key]] = {**before.get(one[key], {}), **one}
            status[name] = [*before.values()]
        elif not name.startswith("$"):
            status[name] = value


def by(user: str, *, evicts: bool) -> str:
    """The code of a deletion by them."""
    if user in TRADES:
        return TRADES[user]
    if user.endswith(":cluster-autoscaler"):
        return "scale-down"
    if user.startswith(MACHINES):
        # Its kubelet deletes a pod's object when its containers are gone, whoever wanted that.
        return "kubelet-finished" if user.startswith("system:node:") else "deleted-by-controller"
    return "evicted-by-person" if evicts else "deleted-by-person"


def _uid(entry: Json) -> str:
    """The answer to a deletion is the object, or a Status with its uid."""
    told = entry.get("responseObject") or {}
    return str((told.get("metadata") or {}).get("uid") or (told.get("details") or {}).get("uid") or "")
