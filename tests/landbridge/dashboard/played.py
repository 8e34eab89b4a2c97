"""A cluster of any size as kubectl and Prometheus tell it."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

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
# Fleets of the two clusters that are played.
SMALL, LARGE = bed.HERE / "queues.yaml", Path(__file__).parent / "large.yaml"
REGIONS = ("us-west-2", "us-east-1", "eu-west-1", "southcentralus")
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


def person(kube: Kube, folder: Path, name: str = OPERATOR, team: str = "", file: Path = SMALL) -> Person:
    path = folder / "fleet.yaml"
    path.write_text(file.read_text())
    fleet = load(path)
    world = World(fleet, draft(fleet, None, bed.BORN).plan, path)
    return Person(world, cast(Place, SimpleNamespace(options="", cloud=None)), "main", kube, name, team)


def asking(kube: Kube, folder: Path, file: Path = SMALL, **who: str) -> Asking:
    """Of an operator, who may ask Prometheus; or of a team's person, who may not."""
    return Asking(person(kube, folder, file=file, **who), None if who else kube)


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
        links=[tunnels("room", "us-west-2", 1), tunnels("room", "us-east-1", 0.5), tunnels("hall", "us-west-2", 0)],
    )


def tunnels(other: str, region: str, up: float, number: int = 1) -> Json:
    """As services/fleet_metrics tells of a connection."""
    about = {"link": f"{other}/{region}", "connection": f"{region}-{other}-{number}", "place": other}
    return {"metric": about, "value": [1, str(up)]}


class Room(NamedTuple):
    """`share` is the part of all machines that is in this place or in one before it."""

    place: str
    pool: str
    share: float


ROOMS = (
    Room("lab", "site-gpu", 0.04),
    Room("us-west-2", "west-gpu", 0.24),
    Room("us-east-1", "east-gpu", 0.5),
    Room("eu-west-1", "eu-gpu", 0.85),
    Room("southcentralus", "south-gpu", 1.0),
)
HOSTS_A_RUN, IDLE_RUN = 16, 9
TEAMS = (("vision", "ann"), ("speech", "bob"), ("robots", "eve"))


def large(nodes: int = 200, gpus: int = 8) -> Played:
    """A whole fleet, of which most works; told by arithmetic, so that it is the same each time."""
    made, pods, shares = [node(f"system-{n}", "us-west-2", "system", gpus=0) for n in range(3)], [], []
    workloads, first, run = list[Json](), 0, 0
    for room in ROOMS:
        last = round(room.share * nodes)
        for begin in range(first, last, HOSTS_A_RUN):
            team, who = TEAMS[run % 3]
            numbers = range(begin, min(begin + HOSTS_A_RUN, last))
            mine = [number for number in numbers if number % 9 != 4]
            workloads.append(workload(f"train-{run}", team, len(mine), room.place, at=run, Admitted=""))
            usual = 0.02 if run == IDLE_RUN else 0.45 + (run * 37 % 50) / 100
            names = {number: f"{'host' if room.place == 'lab' else room.pool}-{number}" for number in numbers}
            for number, name in names.items():
                made.append(odd(number, name, room, gpus))
            for rank, number in enumerate(mine):
                pods.append(pod(f"train-{run}-{rank}", names[number], gpus, f"team-{team}", f"train-{run}", person=who))
                parts = (usual + ((number * 7 + gpu * 13) % 17 - 8) / 60 for gpu in range(gpus))
                shares += active(names[number], *(min(1.0, max(0.0, one)) for one in parts))
            run += 1
        first = last
    workloads += [workload(f"next-{n}", "vision", 4, at=20 + n) for n in range(3)]
    alarms = [
        alarm("NodeNotReady", "page", node="west-gpu-13"),
        alarm("LinkDown", "page", link="lab/eu-west-1", place="lab"),
        alarm("GPUsMissing", node="host-5"),
        alarm("GPUsHeldIdle", node="eu-gpu-116", namespace="team-vision"),
    ]
    links = [
        *(tunnels("lab", region, up) for region, up in zip(REGIONS, (1, 0.5, 0, 1), strict=True)),
        *(tunnels(REGIONS[-1], region, 1, number) for region in REGIONS[:-1] for number in (1, 2)),
    ]
    queues = queue_objects(workloads)
    return Played(
        nodes=made, pods=pods, clusterqueues=queues, workloads=workloads, alarms=alarms, active=shares, links=links
    )


def odd(number: int, name: str, room: Room, gpus: int) -> Json:
    """Some machines are silent, some closed, and of some a GPU is not advertised."""
    ready = "Unknown" if number % 67 == 13 else "True"
    usable = gpus - (number % 53 == 5)
    return node(name, room.place, room.pool, gpus, ready=ready, cordoned=number % 41 == 7, usable=usable)


def seen(kube: Played, folder: Path, file: Path = SMALL, **who: str) -> Snapshot:
    return asking(kube, folder, file, **who).snapshot()
