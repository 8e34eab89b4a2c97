"""That a restore was tested, told by the name of a small object in the fleet bucket: when, and what revision was back.

A cluster's monitoring lists such names (services/fleet_metrics/backups.py) and reads none.
"""

import json
from datetime import datetime

from fleet import fleet_metrics
from landbridge.etcd import store as stores
from landbridge.etcd.store import STAMP, Store

# What drills restore from a snapshot: what came from a member's disk says nothing of those in the bucket.
RING = "main"


def key(cluster: str, revision: int, at: datetime) -> str:
    return f"{fleet_metrics.drilled(cluster)}{RING}/{at:{STAMP}}-{revision}.json"


def keep(store: Store, cluster: str, drill: str, snapshot: str, at: datetime) -> str:
    """Where it lies. `at` is in UTC. Raises LandbridgeError."""
    made = key(cluster, stores.revision(snapshot) or 0, at)
    store.put(made, json.dumps({"drill": drill, "snapshot": snapshot}).encode())
    return made
