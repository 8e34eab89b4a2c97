"""The autoscaler's cloud side at 5,000 nodes in 16 pools, half of them at a site.

The service is its own program before a local AWS that has 2,500 machines of three regions. One pass asks what the
Cluster Autoscaler asks in one: a refresh, the groups, each group's size and machines, and each node's group. The site's
2,500 nodes are in no group, and no release of the autoscaler remembers that: each is asked for in every pass.
"""

import statistics
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.autoscaler.row import Row
from services.autoscaler.protocol import messages
from tests.components.pools.crowd import resident_mib
from tests.local.aws.conftest import served
from tests.services.autoscaler import bed
from tests.services.autoscaler.bed import Serving
from tests.services.autoscaler.many import REGIONS, launch, settings

MACHINES, HOSTS = 2500, 2500
PASSES, IDLE_SECONDS = 3, 120
BUCKETS = "landbridge_autoscaler_rpc_seconds_bucket"
GOAL_MILLISECONDS, GOAL_CALLS = 1.0, 2.0


class Timed:
    """Each call's time by its name, in milliseconds, as its caller meets it."""

    def __init__(self, service: Serving) -> None:
        self.service, self.took = service, dict[str, list[float]]()

    def ask(self, rpc: str, **fields: Any) -> Any:
        began = time.perf_counter()
        answer = self.service.ask(rpc, **fields)
        self.took.setdefault(rpc, []).append((time.perf_counter() - began) * 1000)
        return answer

    def a_pass(self) -> None:
        self.ask("Refresh")
        for group in self.ask("NodeGroups").nodeGroups:
            self.ask("NodeGroupTargetSize", id=group.id)
            for one in self.ask("NodeGroupNodes", id=group.id).instances:
                found = self.ask("NodeGroupForNode", node=messages.AskedNode(providerID=one.id, name=one.id))
                assert found.nodeGroup.id == group.id
        for number in range(HOSTS):
            host = messages.AskedNode(providerID=f"onprem:///lab/host-{number}", name=f"host-{number}.lab")
            self.ask("NodeGroupForNode", node=host)


def counted(service: Serving, name: str, **labels: str) -> dict[str, float]:
    """What the service's metrics have under a name, by the line."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{service.metrics_port}/metrics", timeout=30).read().decode()
    lines = [line for line in text.splitlines() if line.startswith(name)]
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return {
        key: float(value) for key, _, value in (line.rpartition(" ") for line in lines) if all(w in key for w in wanted)
    }


def within(service: Serving, rpc: str, share: float, before: dict[str, float]) -> float:
    """The milliseconds that this share of its calls took at most, by the service's own histogram since `before`."""
    now = counted(service, BUCKETS, rpc=rpc)
    counts = {key: count - before.get(key, 0) for key, count in now.items()}
    ends = sorted((float(key.partition('le="')[2].partition('"')[0]), count) for key, count in counts.items())
    return next(end for end, count in ends if count >= share * ends[-1][1]) * 1000


def rows(folder: Path) -> Iterator[Row]:
    folder.mkdir()
    for endpoint in served():
        cloud, told = bed.cloud(endpoint), settings()
        launch(cloud, told, MACHINES)
        with bed.serving(folder, cloud, told) as service:
            yield from passes(service)
            yield from idle(service)


def passes(service: Serving) -> Iterator[Row]:
    timed = Timed(service)
    timed.ask("Refresh")
    timed.took.clear()
    # The first look at all regions is in the first refresh alone.
    before = counted(service, BUCKETS)
    began = time.perf_counter()
    for _ in range(PASSES):
        timed.a_pass()
    each = (time.perf_counter() - began) / PASSES
    for rpc, took in timed.took.items():
        own50, own99 = (within(service, rpc, share, before) for share in (0.5, 0.99))
        p50, p99 = statistics.median(took), statistics.quantiles(took, n=100)[98]
        met = f"its Python caller meets p50 {p50:.2f}, p99 {p99:.2f} ms"
        measured = f"p50 at most {own50:g}, p99 at most {own99:g} ms; {met}"
        goal = f"p99 {GOAL_MILLISECONDS:g} ms"
        yield Row(f"{rpc}, {len(took) // PASSES} calls a pass", measured, goal, own99 <= GOAL_MILLISECONDS)
    yield Row(f"a pass over {MACHINES + HOSTS} nodes", f"{each:.2f} s")
    yield Row("memory of the service", f"{resident_mib(service.process.pid)} MiB")


def idle(service: Serving) -> Iterator[Row]:
    before, since = counted(service, "landbridge_autoscaler_cloud_calls_total"), time.monotonic()
    while time.monotonic() - since < IDLE_SECONDS:
        service.ask("Refresh")
        time.sleep(2)
    after = counted(service, "landbridge_autoscaler_cloud_calls_total")
    for region in REGIONS:
        calls = sum(value - before.get(key, 0) for key, value in after.items() if f'"{region}"' in key)
        minutely = calls * 60 / IDLE_SECONDS
        what = f"calls of the cloud a minute when idle, {region}"
        yield Row(what, f"{minutely:.1f}", f"{GOAL_CALLS:g}", minutely <= GOAL_CALLS)
