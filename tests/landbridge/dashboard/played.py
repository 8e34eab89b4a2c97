"""A cluster of any size as kubectl and Prometheus tell it."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World
from landbridge.access.person import OPERATOR, Person
from landbridge.cluster.kube import Kube
from landbridge.dashboard.ask import ACTIVE, LINKS, Asking
from landbridge.dashboard.snapshot import Snapshot
from landbridge.places import Place
from landbridge.remote_execution import CommandResult
from tests.components.addons import bed
from tests.landbridge.queue.test_runs import queue_objects, workload

BEGUN = "2026-01-01T00:00:00Z"
FORBIDDEN = "Error from server (Forbidden): pods is forbidden: User cannot list resource"
Json = dict[str, Any]
ASKED = {ACTIVE: "active", LINKS: "links"}


def node(name: str, place: str = "room", pool: str = "room-gpu", gpus: int = 8, **more: Any) -> Json:
    """`more`: `ready`, `usable`, `taints` by key, `cordoned`."""
    marks = {
        "landbridge.dev/place": place,
        "landbridge.dev/pool": pool,
        "landbridge.dev/kind": "gpu" if gpus else "cpu",
        **({"landbridge.dev/gpu": "h100"} if gpus else {}),
    }
    usable = more.get("usable", gpus)
    ready = {"type": "Ready", "status": more.get("ready", "True"), "lastTransitionTime": BEGUN, "message": "so it says"}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": marks, "creationTimestamp": BEGUN},
        "spec": {
            "taints": [{"key": key, "effect": "NoSchedule"} for key in more.get("taints", ())],
            **({"unschedulable": True} if more.get("cordoned") else {}),
        },
        "status": {
            "conditions": [ready],
            "capacity": {"nvidia.com/gpu": str(gpus)},
            "allocatable": {"nvidia.com/gpu": str(usable)},
        },
    }


def pod(name: str, on: str, gpus: int = 8, space: str = "team-vision", run: str = "train", **more: str) -> Json:
    marks = {
        "landbridge.dev/run": run,
        "landbridge.dev/person": more.get("person", "ann"),
        "landbridge.dev/part": "main",
    }
    return {
        "metadata": {
            "name": name,
            "namespace": space,
            "uid": f"uid-{name}",
            "labels": marks if run else {},
            "annotations": {"batch.kubernetes.io/job-completion-index": name.rpartition("-")[2]},
            "creationTimestamp": BEGUN,
        },
        "spec": {
            **({"nodeName": on} if on else {}),
            "containers": [{"name": "run", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
        },
        "status": {"phase": more.get("phase", "Running"), "startTime": BEGUN},
    }


def active(of_node: str, *shares: float) -> list[Json]:
    return [
        {"metric": {"node": of_node, "gpu": str(number)}, "value": [1, str(share)]}
        for number, share in enumerate(shares)
    ]


def alarm(name: str, severity: str = "ticket", **about: str) -> Json:
    return {
        "metric": {"alertname": name, "severity": severity, "owner": "operators", **about},
        "value": [1, "1767225600"],
    }


class Played(Kube):
    """kubectl, which answers from lists; `away` has what it says instead. All that was asked is in `asked`."""

    def __init__(self, **lists: Sequence[Json]) -> None:
        super().__init__("")
        vars(self).update(lists=lists, away={}, asked=[])

    def run(self, *words: str, stdin: str = "", seconds: float = 60) -> CommandResult:
        mine = vars(self)
        mine["asked"].append(words)
        what = words[-1] if words[0] == "exec" else words[1].partition(".")[0]
        kind = ASKED.get(what, "alarms") if words[0] == "exec" else what
        if said := mine["away"].get(kind):
            return CommandResult(1, "", said)
        found = list(mine["lists"].get(kind, ()))
        if space := next((word.partition("=")[2] for word in words if word.startswith("--namespace=team-")), ""):
            found = [one for one in found if one["metadata"]["namespace"] == space]
        return CommandResult(0, json.dumps(found if words[0] == "exec" else {"items": found}), "")

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return cast(list[tuple[str, ...]], vars(self)["asked"])

    @property
    def away(self) -> dict[str, str]:
        return cast(dict[str, str], vars(self)["away"])


def person(kube: Kube, folder: Path, name: str = OPERATOR, team: str = "") -> Person:
    path = folder / "fleet.yaml"
    path.write_text((bed.HERE / "queues.yaml").read_text())
    fleet = load(path)
    world = World(fleet, draft(fleet, None, bed.BORN).plan, path)
    return Person(world, cast(Place, SimpleNamespace(options="", cloud=None)), "main", kube, name, team)


def asking(kube: Kube, folder: Path, **who: str) -> Asking:
    """Of an operator, who may ask Prometheus; or of a team's person, who may not."""
    return Asking(person(kube, folder, **who), None if who else kube)


def small() -> Played:
    """One of everything: at work, idle, half held, free, broken, cordoned, silent; runs that have GPUs, and wait."""
    workloads = [
        workload("train", "vision", 2, "room", at=1, Admitted=""),
        workload("probe", "speech", 1, "room", at=2, Admitted=""),
        workload("later", "robots", 3, at=3),
    ]
    nodes = [
        node("host-1"),
        node("host-2"),
        node("host-10", cordoned=True),
        node("host-3", usable=7),
        node("host-4", ready="Unknown"),
        node("west-1", "us-west-2", "west-gpu"),
        node("system-1", "us-west-2", "system", gpus=0),
    ]
    pods = [
        pod("train-0", "host-1"),
        pod("train-1", "host-2"),
        pod("probe-0", "host-3", 2, "team-speech", "probe", person="bob"),
        pod("note-0", "", 1, "team-vision", "", phase="Pending"),
    ]
    shares = [*active("host-1", *[0.9] * 8), *active("host-2", *[0.01] * 8), *active("host-3", *[0] * 5, 0.5, 0.6)]
    return Played(
        nodes=nodes,
        pods=pods,
        clusterqueues=queue_objects(workloads),
        workloads=workloads,
        alarms=[alarm("DiskFull", node="host-2"), alarm("NodeNotReady", "page", node="host-4")],
        active=shares,
        links=[tunnels("lab", "us-west-2", 1), tunnels("lab", "us-east-1", 0.5), tunnels("lab2", "us-west-2", 0)],
    )


def tunnels(place: str, region: str, up: float) -> Json:
    return {
        "metric": {"link": f"site {place}", "connection": f"{place}-{region}", "place": place},
        "value": [1, str(up)],
    }


def large(nodes: int = 200, gpus: int = 8) -> Played:
    """A whole fleet, of which most works; told by arithmetic, so that it is the same each time."""
    places = (("lab", "site-gpu", 0.2), ("us-west-2", "west-gpu", 0.4), ("us-east-1", "east-gpu", 1.0))
    made, pods, shares = [], [], []
    for number in range(nodes):
        place, pool, _ = next(one for one in places if number < one[2] * nodes)
        name = f"{pool}-{number}"
        ready = "Unknown" if number % 67 == 13 else "True"
        made.append(
            node(name, place, pool, gpus, ready=ready, cordoned=number % 41 == 7, usable=gpus - (number % 53 == 5))
        )
        if number % 9 != 4:
            run = number // 16
            team = ("vision", "speech", "robots")[run % 3]
            pods.append(pod(f"train-{run}-{number}", name, gpus, f"team-{team}", f"train-{run}"))
            usual = 0.02 if run == 7 else 0.45 + (run * 37 % 50) / 100
            shares += active(name, *(min(1.0, usual + ((number * 7 + gpu * 13) % 17 - 8) / 60) for gpu in range(gpus)))
    workloads = [
        *(
            workload(f"train-{n}", ("vision", "speech", "robots")[n % 3], 16, "lab", at=n, Admitted="")
            for n in range(12)
        ),
        *(workload(f"next-{n}", "vision", 4, at=20 + n) for n in range(3)),
    ]
    alarms = [alarm("NodeNotReady", "page", node="site-gpu-13"), alarm("GPUsHeldIdle", node="east-gpu-115")]
    return Played(
        nodes=made, pods=pods, clusterqueues=queue_objects(workloads), workloads=workloads, alarms=alarms, active=shares
    )


def seen(kube: Played, folder: Path, **who: str) -> Snapshot:
    return asking(kube, folder, **who).snapshot()
