"""The real Cluster Autoscaler's loop, from its own metrics: large clusters, quiet and with pods that wait.

| what | goal |
| --- | --- |
| 1,000 nodes, 30,000 pods | 1 s |
| 5,000 nodes, of which 2,500 are at the site, with two pods each | 5 s |

API server, etcd and our service are real, machines are those of a local AWS; Nodes and their pods are objects alone, as
the autoscaler sees no more of them either.
"""

import re
import time
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from bench.autoscaler.row import Row
from components.pools import node_template
from components.pools.spec import pool_spec
from services.autoscaler import provider_ids
from tests.components.pools.crowd import resident_mib
from tests.components.pools.joining_client import eventually
from tests.local.aws.conftest import served
from tests.services.autoscaler import bed
from tests.services.autoscaler.autoscaled import PODS, Autoscaled
from tests.services.autoscaler.many import REGIONS, launch, settings
from tests.support.apiserver import server

MEASURED_SECONDS, THREADS, WAITING = 90, 12, 100
LOOP = re.compile(r'cluster_autoscaler_function_duration_seconds_(\w+)\{function="main"(?:,le="([^"]+)")?\} (\S+)')


class Size(NamedTuple):
    """`pods` are all together; machines stand in 16 pools of three regions, hosts at the site."""

    machines: int
    hosts: int
    pods: int
    goal_seconds: float


SIZES = (Size(1000, 0, 30_000, 1.0), Size(2500, 2500, 10_000, 5.0))


def nodes(one: Autoscaled, size: Size) -> Iterator[dict[str, Any]]:
    world, zones = one.world, dict[str, str]()
    west = pool_spec(world.fleet, world.plan, "west-gpu")
    for region in REGIONS:
        zones |= {id_: found.zone for id_, found in one.machines(region)}
    for id_, zone in zones.items():
        yield ready(node_template.template(west, zone, id_), provider_ids.aws(zone, id_))
    for number in range(size.hosts):
        yield ready(node_template.template(west, "lab", f"host-{number}.lab"), f"onprem:///lab/host-{number}")


def ready(node: dict[str, Any], provider: str) -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    node["spec"]["providerID"] = provider
    told = {"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": now}
    node["status"]["conditions"] = [told]
    return node


def pod(node: str | None, number: int, limits: Mapping[str, str]) -> dict[str, Any]:
    """On that node, or waiting for one."""
    container = {"name": "c", "image": "example.com/c", "resources": {"limits": limits}}
    spec = {"tolerations": [{"operator": "Exists"}], "containers": [container]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{node or 'waits'}-{number}"},
        "spec": {**spec, **({"nodeName": node} if node else {})},
    }


def fill(one: Autoscaled, size: Size) -> None:
    def lay(path: str, body: Mapping[str, Any]) -> None:
        one.api.call("POST", path, None, body)

    made = list(nodes(one, size))
    each = size.pods // len(made)
    # The first of a node holds its GPUs: no node is idle.
    has: list[Mapping[str, str]] = [{"nvidia.com/gpu": "8"}, *(each - 1) * [{"cpu": "10m"}]]
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda node: lay("/api/v1/nodes", node), made))
        names = [node["metadata"]["name"] for node in made]
        pods = (pod(name, number, limits) for name in names for number, limits in enumerate(has))
        list(threads.map(lambda body: lay(PODS, body), pods))


def loops(one: Autoscaled) -> tuple[float, float, dict[float, float]]:
    """How many, their seconds together, and how many took at most so long."""
    text = urllib.request.urlopen(f"http://{one.flags['address']}/metrics", timeout=30).read().decode()
    found = {(kind, le): float(value) for kind, le, value in LOOP.findall(text)}
    buckets = {float(le): value for (kind, le), value in found.items() if kind == "bucket"}
    return found.get(("count", ""), 0.0), found.get(("sum", ""), 0.0), buckets


def measured(one: Autoscaled, what: str, goal: float) -> Row:
    before = loops(one)
    time.sleep(MEASURED_SECONDS)
    after = loops(one)
    count, total = after[0] - before[0], after[1] - before[1]
    within = next((le for le, n in after[2].items() if count and (n - before[2].get(le, 0)) / count >= 0.99), None)
    if not count or within is None:
        return Row(what, "no loop ended", f"{goal:g} s", met=False)
    mean = total / count
    return Row(what, f"{mean:.2f} s of {count:.0f}, 99 % within {within:g} s", f"{goal:g} s", mean <= goal)


def rows(folder: Path, size: Size) -> Iterator[Row]:
    world, told = bed.example(), settings()
    for endpoint in served():
        cloud = bed.cloud(endpoint)
        launch(cloud, told, size.machines)
        folder.mkdir(parents=True)
        with server(folder, controllers=False) as kube:
            one = Autoscaled(folder, kube, cloud, world, told)
            try:
                yield from under(one, size)
            finally:
                one.stop()


def under(one: Autoscaled, size: Size) -> Iterator[Row]:
    fill(one, size)
    one.start({})
    eventually(lambda: loops(one)[0] > 2, 300)
    what = f"loop, {size.machines + size.hosts:,} nodes, {size.hosts:,} of the site, {size.pods:,} pods"
    yield measured(one, what, size.goal_seconds)
    for number in range(WAITING):
        one.api.call("POST", PODS, None, pod(None, number, {"nvidia.com/gpu": "9"}))
    yield measured(one, f"the same, and {WAITING} pods wait that fit nowhere", size.goal_seconds)
    brain, service = one.kube.processes["cluster-autoscaler"].pid, one.service.process.pid
    yield Row("its memory, and the service's", f"{resident_mib(brain)} MiB, {resident_mib(service)} MiB")
