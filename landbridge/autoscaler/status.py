"""How the autoscaler is, from what it writes down itself: its status ConfigMap and its lease; and the freeze."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ruamel.yaml import YAML

from components.addons.autoscaler import ADDON, STATUS
from components.addons.manifests import SPACE
from components.pools.names import Names
from fleet import autoscaler
from fleet.model import Fleet
from landbridge.cluster import freeze
from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError

PODS = f"`landbridge kubectl -n {SPACE} get pods -l app.kubernetes.io/name={ADDON}` shows its pods."
# It writes in each loop, which are seconds apart, or minutes in the largest clusters.
SILENT_SECONDS = 300
# What it says of a group's growth → what to tell people.
GROWTH = {"InProgress": "machines are coming", "NoActivity": "", "NotNeeded": "", "Needed": "machines are needed"}


@dataclass(frozen=True)
class GroupState:
    """One scaling group. `target` are machines that are there or asked for, `room` how many it may have at most now:
    with the limits of its pool, its owner and the fleet. `waits` says why it is not asked at the moment.
    """

    group: str
    pool: str
    place: str
    target: int
    ready: int
    least: int
    room: int
    growth: str
    waits: str
    may_go: int


@dataclass(frozen=True)
class Status:
    """`since` is when it wrote last, None if it never did; `trouble` is in words. In a `dry_run` nothing is done."""

    leader: str
    since: datetime | None
    frozen: Mapping[str, str] | None
    groups: Sequence[GroupState]
    trouble: Sequence[str]
    dry_run: bool = False

    def as_json(self) -> dict[str, Any]:
        since = self.since.isoformat(timespec="seconds") if self.since else None
        groups = [asdict(group) for group in self.groups]
        return {
            "leader": self.leader,
            "written": since,
            "frozen": self.frozen,
            "groups": groups,
            "trouble": [*self.trouble],
            "dry_run": self.dry_run,
        }


def look(kube: Kube, fleet: Fleet, cluster: str, now: datetime) -> Status:
    """Raises KubeError, and LandbridgeError for a cluster that has no autoscaler."""
    if not autoscaler.wanted(fleet, cluster):
        raise LandbridgeError(f"Cluster {cluster} has no autoscaler: it has no pools of kind gpu or cpu in AWS.")
    found = kube.find("configmap", STATUS, f"--namespace={SPACE}")
    lease = kube.find("lease", ADDON, f"--namespace={SPACE}")
    leader = str((lease or {}).get("spec", {}).get("holderIdentity") or "")
    frozen = freeze.frozen(kube)
    rehearses = fleet.clusters[cluster].autoscaler_dry_run
    if found is None:
        return Status(leader, None, frozen, (), [f"The autoscaler has written no status yet. {PODS}"], rehearses)
    record = YAML(typ="safe").load(io.StringIO(found["data"]["status"]))
    since = written(str(record["time"]))
    states = groups(record, fleet, cluster)
    return Status(leader, since, frozen, states, [*_trouble(record, since, now)], rehearses)


def written(text: str) -> datetime:
    """Go's form of a time in UTC, such as 2026-11-22 13:40:18.16778776 +0000 UTC, to the second."""
    return datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)


def _trouble(record: Mapping[str, Any], since: datetime, now: datetime) -> list[str]:
    silent, found = (now - since).total_seconds(), []
    if silent > SILENT_SECONDS:
        found.append(f"The autoscaler has written nothing for {silent / 60:.0f} minutes. {PODS}")
    if record.get("autoscalerStatus") != "Running":
        found.append(
            f"It says that it is {record.get('autoscalerStatus')}: {record.get('message') or 'no reason given'}."
        )
    health = record.get("clusterWide", {}).get("health", {})
    if health.get("status") not in (None, "Healthy"):
        found.append(f"It takes the cluster for {health['status'].lower()}, and buys nothing.")
    return found


def groups(record: Mapping[str, Any], fleet: Fleet, cluster: str) -> list[GroupState]:
    """In the order of the fleet file's pools, then by zone."""
    known = {one["name"]: one for one in record.get("nodeGroups") or []}
    found = []
    for name, pool in fleet.pools.items():
        if pool.cluster == cluster and pool.region:
            here = [group.name for group in Names(fleet).scaling(name) if group.name in known]
            found += [_state(known[group], name, pool.region) for group in here]
    return found


def _state(one: Mapping[str, Any], pool: str, region: str) -> GroupState:
    health, growth, fewer = one.get("health", {}), one.get("scaleUp", {}), one.get("scaleDown", {})
    why = growth.get("backoffInfo") or {}
    status = str(growth.get("status", ""))
    waits = f"{why.get('errorCode') or 'refused'}: {why.get('errorMessage') or 'no reason given'}"
    return GroupState(
        one["name"],
        pool,
        region,
        int(health.get("cloudProviderTarget", 0)),
        int(health.get("nodeCounts", {}).get("registered", {}).get("ready", 0)),
        int(health.get("minSize", 0)),
        int(health.get("maxSize", 0)),
        GROWTH.get(status, "" if status == "Backoff" else status),
        waits if status == "Backoff" else "",
        int(fewer.get("candidates", 0)),
    )
