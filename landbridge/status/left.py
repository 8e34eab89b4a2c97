"""What a look at drift found, told by names of small objects in fleet buckets: of each stack when, and how many differ.

A cluster's monitoring lists such names (services/fleet_metrics/drift.py) and reads none.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from fleet import fleet_metrics
from fleet.buckets import bucket_name
from fleet.model import Fleet
from landbridge.clouds.cloud import Bucket
from landbridge.errors import LandbridgeError
from landbridge.etcd.store import STAMP
from stacks.catalogue import catalogue

# Of each stack, so that people see since when something differs.
KEPT = 5
# What differs of each stack that holds anything; None where that is not known.
Found = Mapping[str, list[str] | None]


def key(cluster: str, stack: str, count: int, at: datetime) -> str:
    return f"{fleet_metrics.looked_at(cluster)}{stack}/{at:{STAMP}}-{count}.json"


def leave(fleet: Fleet, found: Found, bucket: Callable[[str, str], Bucket], at: datetime, *, whole: bool) -> list[str]:
    """For the monitoring of each cluster: its own stacks and those that no cluster owns. `bucket` takes a region and a
    name; `at` is in UTC. After a look at the `whole` fleet what was told of other stacks goes, for they are gone.

    Answers with notes: who may not write there has had the look all the same.
    """
    notes = []
    for cluster, about in fleet.clusters.items() if fleet.monitoring else ():
        others = _others(fleet, cluster)
        mine = {stack: differs for stack, differs in found.items() if stack not in others}
        try:
            _leave(bucket(about.region, bucket_name(fleet, about.region)), cluster, mine, at, whole=whole)
        except LandbridgeError as error:
            notes.append(f"Monitoring of {cluster} is not told of this look at drift: {error}")
    return notes


def _others(fleet: Fleet, cluster: str) -> set[str]:
    """Stacks of other clusters: those themselves, and what can't be without them."""
    away = fleet.clusters.keys() - {cluster}
    return {stack.name for stack in catalogue(fleet) if not away.isdisjoint((stack.name, *stack.depends_on))}


def _leave(bucket: Bucket, cluster: str, mine: Found, at: datetime, *, whole: bool) -> None:
    folder = fleet_metrics.looked_at(cluster)
    for stack, differs in mine.items():
        if differs is not None:
            bucket.put(key(cluster, stack, len(differs), at), json.dumps({"differs": differs}).encode())
    there: dict[str, list[str]] = {}
    for name in sorted(one.key for one in bucket.listed(folder)):
        there.setdefault(name.removeprefix(folder).partition("/")[0], []).append(name)
    for stack, names in there.items():
        for old in names[:-KEPT] if stack in mine else names if whole else ():
            bucket.delete(old)
