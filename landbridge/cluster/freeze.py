"""The switch that stops all that deletes: a ConfigMap that the autoscaler's service and others look at.

It is set by `landbridge freeze` and, by itself, after a restore of etcd; and released by hand alone.
"""

from datetime import UTC, datetime
from typing import Any

from landbridge.access.rbac import MANAGED
from landbridge.errors import LandbridgeError

from .kube import Kube

NAMESPACE, NAME = "kube-system", "landbridge-freeze"
RELEASE = "landbridge unfreeze"


def manifest(why: str, since: datetime) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": MANAGED},
        "data": {"since": since.isoformat(timespec="seconds"), "why": why},
    }


def freeze(kube: Kube, why: str) -> None:
    kube.apply([manifest(why, datetime.now(UTC))])


def frozen(kube: Kube) -> dict[str, str] | None:
    """Since when and why; None when nothing is frozen."""
    found = kube.find("configmap", NAME, f"--namespace={NAMESPACE}")
    return dict(found.get("data", {})) if found else None


def refuse(kube: Kube, what: str) -> None:
    """Raises LandbridgeError while the cluster is frozen; `what` is then so."""
    if (found := frozen(kube)) is not None:
        raise LandbridgeError(
            f"{what}: the cluster is frozen since {found.get('since', 'some time')} "
            f"({found.get('why', 'nobody said why')}). `{RELEASE}` releases it."
        )


def release(kube: Kube) -> None:
    """Also where nothing is frozen."""
    kube.done("delete", "configmap", NAME, f"--namespace={NAMESPACE}", "--ignore-not-found")
