"""Who goes first when machines are short. Kubernetes' own two classes for system pods stand above all of these."""

from typing import NamedTuple

from .manifests import Manifest, meta
from .spec import AddOnsSpec

ADDON = "priorities"
SITE_DNS, SPARE_DNS, WARM = "site-dns", "spare-dns", "warm"
# The autoscaler buys nothing for pods below (its --expendable-pods-priority-cutoff), nor keeps machines for them.
BUYS_FROM = -10


class Priority(NamedTuple):
    """`preempts` is whether running pods of lower classes may be ended for it."""

    value: int
    preempts: bool
    why: str
    default: bool = False


# Training is stateful: nothing here ends it, as all that preempts stands no higher.
TABLE = {
    SITE_DNS: Priority(1000, preempts=False, why="DNS of a site: first in the queue, ends nobody's work"),
    "training": Priority(0, preempts=True, why="what people start; takes the place of spare pods", default=True),
    WARM: Priority(BUYS_FROM, preempts=False, why="holds a machine for work to come: buys it, ends when work comes"),
    SPARE_DNS: Priority(-50, preempts=True, why="DNS of places that may have no machine: buys none"),
    "spare": Priority(-100, preempts=False, why="fills gaps: buys no machine, ends when others need the place"),
}


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": meta(name, ADDON, ""),
            "value": one.value,
            "globalDefault": one.default,
            "preemptionPolicy": "PreemptLowerPriority" if one.preempts else "Never",
            "description": one.why,
        }
        for name, one in TABLE.items()
    ]
