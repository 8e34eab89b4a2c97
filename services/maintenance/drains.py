"""Pods leave a node by eviction: budgets hold and their own grace counts. Past a plan's deadline they are deleted."""

from collections.abc import Mapping
from typing import Any

from kube_http import Answer, Kube

from .pods import Pods, name


def drain(kube: Kube, there: Pods, *, delete: bool) -> str:
    """Why some do not go, empty if all do. Raises Answer, OSError."""
    stuck: dict[str, str] = {}
    for pod in there.all:
        if "deletionTimestamp" in pod["metadata"]:
            continue
        if why := _leaves(kube, pod, delete=delete):
            stuck[name(pod)] = why
    return "; ".join(f"{pod} stays: {why}" for pod, why in sorted(stuck.items()))


def _leaves(kube: Kube, pod: Mapping[str, Any], *, delete: bool) -> str:
    """Only the one that was seen: another of its name runs elsewhere by now."""
    meta = pod["metadata"]
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    sure = {"preconditions": {"uid": meta["uid"]}}
    about = {"name": meta["name"], "namespace": meta["namespace"]}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": about, "deleteOptions": sure}
    try:
        if delete:
            kube.ask("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **sure})
        else:
            kube.ask("POST", f"{path}/eviction", eviction)
    except Answer as answer:
        if answer.status in (404, 409):
            return ""
        if answer.status in (429, 500):  # a budget, or two of them about one pod
            return str(answer).partition(": ")[2] or str(answer)
        raise
    return ""
