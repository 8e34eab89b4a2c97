"""200 runs of three teams over quota, on 1,600 GPUs of a site: shares, order, throughput of admission, memory.

    PYTHONPATH=. .venv/bin/python bench/queues.py

Real etcd, API server, controllers, Kueue and JobSet with the rights and settings of the add-ons. Pods are played: each
ends by itself some seconds after it was made. Every second the GPUs of each team are counted. It ends with 1 if a team
had less than its own while it waited for more, by more than the largest run and for more than three seconds; if a run
began in part; or if one never did.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from components.addons import jobset, kueue, queues
from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World
from local.providers.kubernetes.api import ApiError
from tests.components.addons import bed
from tests.components.addons.queueing import Queueing, running, true, where
from tests.components.pools.joining_client import eventually
from tests.support.apiserver import Server, server

HOSTS, GPUS = 200, 8
OWNED = {"vision": 640, "speech": 640, "robots": 320}
RUNS, LARGEST_HOSTS, SEED = 200, 16, 27
MOST_LOOKS = 5
# Between the end of a run and the beginning of the next one's: its pods' ends, its Job's, its workload's, admission.
MOST_SHORT_SECONDS = 3
POD_SECONDS, SETTLING_SECONDS, MOST_SECONDS = (8.0, 20.0), 3.0, 1200.0
PRIORITIES = ("low", "normal", "normal", "high")
OF_RUN = "jobset.sigs.k8s.io/jobset-name"
FLEET = """\
fleet: bench
owner: vision
domain: bench.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b]}}
sites:
  room: {{gateways: [192.0.2.10], asn: 65010, size: large, hosts: {{{hosts}}}}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  room-gpu: {{kind: gpu, cluster: main, site: room, owner: vision, hosts: [{names}]}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: vision, instance_type: m7i.large, min: 2, max: 4}}
teams:
{teams}
"""


def world(folder: Path) -> World:
    names = [f"host-{number}" for number in range(1, HOSTS + 1)]
    host = f"{{gpus: {GPUS}, gpu: h100, cpus: 96, memory_gib: 1000, rdma: true}}"
    teams = [
        f"  {name}: {{gid: {2000 + number}, queues: {{main: {{gpus: {own}}}}}}}"
        for number, (name, own) in enumerate(OWNED.items())
    ]
    hosts = ", ".join(f"{name}: {host}" for name in names)
    file = folder / "fleet.yaml"
    file.write_text(FLEET.format(hosts=hosts, names=", ".join(names), teams="\n".join(teams)))
    fleet = load(file)
    return World(fleet, draft(fleet, None, bed.BORN).plan, file)


class Player(threading.Thread):
    """Ends pods some seconds after they were made, all of one run after the same time."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.over = server, threading.Event()
        self.ends: dict[str, float] = {}
        self.chance = random.Random(SEED)

    def run(self) -> None:
        api = self.server.api
        while not self.over.wait(0.5):
            for pod in api.call("GET", "/api/v1/pods", {"labelSelector": OF_RUN})["items"]:
                meta = pod["metadata"]
                of = meta["labels"][OF_RUN]
                end = self.ends.setdefault(of, time.monotonic() + self.chance.uniform(*POD_SECONDS))
                if time.monotonic() < end or pod["status"].get("phase") == "Succeeded":
                    continue
                path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
                with contextlib.suppress(ApiError):
                    self.server.patch(path, {"status": {"phase": "Succeeded"}})


def memory_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def team_of(workload: dict[str, Any]) -> str:
    return str(workload["metadata"]["namespace"]).removeprefix("team-")


def gpus_of(workload: dict[str, Any]) -> int:
    return sum(int(one["count"]) for one in workload["spec"]["podSets"]) * GPUS


class Counts:
    """What every second showed."""

    def __init__(self) -> None:
        self.seconds = 0
        self.most = 0
        self.short, self.longest_short = Counter[str](), Counter[str]()
        self.partly: set[str] = set()
        self.incomplete: dict[str, int] = {}
        self.full_after = 0.0
        self.admitted_at: dict[str, float] = {}

    def look(self, queueing: Queueing, begun: float) -> bool:
        """Whether all runs are through."""
        found = queueing.workloads()
        left = {name: one for name, one in found.items() if not true(one, "Finished")}
        held, waiting = Counter[str](), Counter[str]()
        for name, one in left.items():
            if where(one):
                held[team_of(one)] += gpus_of(one)
                self.admitted_at.setdefault(name, time.monotonic() - begun)
            else:
                waiting[team_of(one)] += 1
        for name in found.keys() - left.keys():
            self.admitted_at.setdefault(name, time.monotonic() - begun)
        self.seconds += 1
        if sum(held.values()) > self.most:
            self.most, self.full_after = sum(held.values()), time.monotonic() - begun
        all_wait = all(waiting[team] for team in OWNED) and time.monotonic() - begun > SETTLING_SECONDS
        for team, own in OWNED.items():
            short = all_wait and held[team] < own - LARGEST_HOSTS * GPUS
            self.short[team] = self.short[team] + 1 if short else 0
            self.longest_short[team] = max(self.longest_short[team], self.short[team])
        return len(found) == RUNS and not left

    def look_at_parts(self, queueing: Queueing) -> None:
        """Runs of which only a part has pods for several seconds: the controller makes them one after the other."""
        jobs = queueing.server.api.call("GET", "/apis/batch/v1/jobs")["items"]
        now = {
            one["metadata"]["name"]
            for one in jobs
            if not one["spec"].get("suspend")
            and not one["status"].get("completionTime")
            and one["status"].get("active", 0) + one["status"].get("succeeded", 0) < one["spec"]["parallelism"]
        }
        self.incomplete = {name: self.incomplete.get(name, 0) + 1 for name in now}
        self.partly |= {name for name, looks in self.incomplete.items() if looks > MOST_LOOKS}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="queues-") as name,
        server(Path(name), rate=200) as made,
        running(made, world(Path(name))) as queueing,
    ):
        eventually(lambda: true(made.find(f"/apis/{queues.API}/clusterqueues/vision") or {}, "Active"), 120)
        return measured(queueing)


def measured(queueing: Queueing) -> int:
    chance = random.Random(SEED)
    teams = [team for team in OWNED for _ in range(RUNS)]
    for number in range(RUNS):
        team, hosts = chance.choice(teams), chance.choice((1, 1, 2, 4, 8, LARGEST_HOSTS))
        queueing.run_parts(team, f"run-{number}", {"worker": hosts}, chance.choice(PRIORITIES))
    player, counts, begun = Player(queueing.server), Counts(), time.monotonic()
    player.start()
    through = False
    while not through and time.monotonic() - begun < MOST_SECONDS:
        time.sleep(1)
        through = counts.look(queueing, begun)
        counts.look_at_parts(queueing)
    player.over.set()
    return report(queueing, counts, time.monotonic() - begun, through=through)


def report(queueing: Queueing, counts: Counts, seconds: float, *, through: bool) -> int:
    processes = queueing.server.processes
    first = sorted(counts.admitted_at.values())
    print(f"{RUNS} runs through in {seconds:.0f} s: {RUNS / seconds:.1f} admitted and ended a second")
    in_first = sum(1 for one in first if one <= counts.full_after)
    print(
        f"most GPUs held at once: {counts.most} of {HOSTS * GPUS}, after {counts.full_after:.0f} s, by {in_first} runs"
    )
    print(f"the last run began after {first[-1]:.0f} s")
    for addon in (kueue.ADDON, jobset.ADDON):
        print(f"{addon}: {memory_mib(processes[addon].pid):.0f} MiB at most")
    for team, looks in sorted(counts.longest_short.items()):
        print(f"{team} waited with less than its own, by more than the largest run, {looks} s in a row at most")
    late = [
        f"{team} had less than its own" for team, looks in counts.longest_short.items() if looks > MOST_SHORT_SECONDS
    ]
    problems = [*late, *sorted(counts.partly), *([] if through else ["not all runs ended"])]
    print("\n".join(problems) if problems else "shares kept, no run in part, none left")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
