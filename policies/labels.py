"""Labels by which an autoscaler knows a cloud's GPUs: none on a site's nodes.

One that finds such a label on a node waits for GPUs to appear there, and counts a site's host among a cloud's machines.
A bundle that only an update can know is judged then: its labels follow from the program alone, not from the cloud.
"""

import re
from collections.abc import Iterator
from typing import Any

from fleet.world import World

from .boot import POOL
from .reading import UNKNOWN, Finding, Item, finding, tag, undecidable

OBJECT, NODES = "aws:s3/bucketObjectv2:BucketObjectv2", ("kubernetes:core/v1:Node", "kubernetes:core/v1:NodePatch")
# `GPULabel` of the Cluster Autoscaler's providers, and what the managed clusters of clouds set.
CLOUDS = (
    "k8s.amazonaws.com/accelerator",
    "kubernetes.azure.com/accelerator",
    "cloud.google.com/gke-accelerator",
    "accelerator",
)
LABEL = re.compile(rf"(?<![\w./-])({'|'.join(re.escape(label) for label in CLOUDS)})(?=\s*[=:])")
PLACE = "landbridge.dev/place"
REMEDY = "Leave it out: landbridge.dev labels say what GPUs a node has, at sites and in clouds alike"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in found:
        if item.type == OBJECT:
            yield from _bundle(item, world)
        elif item.type in NODES:
            yield from _node(item, world)


def _bundle(item: Item, world: World) -> Iterator[Finding]:
    pool, content = world.fleet.pools.get(str(tag(item, POOL))), item.props.get("content")
    if pool is None or not pool.site or not isinstance(content, str):
        return
    for label in dict.fromkeys(LABEL.findall(content.replace('\\"', ""))):
        what = f"the bundle of pool {tag(item, POOL)} at site {pool.site} sets the label {label}, by which a cloud"
        yield finding(item, "content", f"{what} knows its GPUs", REMEDY)


def _node(item: Item, world: World) -> Iterator[Finding]:
    metadata: Any = item.props.get("metadata")
    labels: Any = UNKNOWN if metadata is UNKNOWN else (metadata or {}).get("labels")
    if labels is UNKNOWN:
        yield undecidable(item, "metadata.labels")
        return
    labels = labels or {}
    place = labels.get(PLACE)
    if place is UNKNOWN or (place is not None and place not in world.fleet.sites):
        return
    for label in CLOUDS:
        if label in labels:
            what = f"node {item.name} of {place or 'no place'} has the label {label}, by which a cloud knows its GPUs"
            yield finding(item, "metadata.labels", what, REMEDY)
