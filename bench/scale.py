"""2,500 hosts of a site and 2,500 machines of a cloud join one cluster, and what its API servers feel of it.

Real etcd, API server, controllers and joining service with the flags of the size `large`. Each machine joins by itself:
a site's host by its own bootstrap token, a cloud's by its instance's identity, which the service has the local AWS judge;
then its request, its certificate, its Node. One kwok plays status and leases of all, a lease each ten seconds. The
sides compared are the same cluster at 500, 2,500 and 5,000 nodes; `--most` ends earlier.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.components.pools import api_metrics, crowd
from tests.components.pools.api_metrics import Latency
from tests.components.pools.joining_client import eventually
from tests.components.pools.joining_cluster import Cluster, make

STEPS, QUIET_SECONDS = (500, 2500, 5000), 60
VERBS = ("POST", "PUT", "PATCH", "GET", "LIST")
FLAGS = {"controllers": {"cluster-cidr": crowd.PODS[5000]}}


def step(cluster: Cluster, joined: set[str], count: int) -> tuple[dict[str, Latency], dict[str, Latency]]:
    """Half of them at each place: latencies while they join, and when they have. Adds their names to `joined`."""
    each, before = count // 2, len(joined)
    machines = [*crowd.hosts(before // 2 + 1, each), *crowd.instances(cluster, each, joined)]
    joined.update(machine.name for machine in machines)
    crowd.enrol(cluster, machines)
    first, began = api_metrics.durations(cluster), time.monotonic()
    crowd.join(cluster, sorted(machines, key=lambda one: hash(one.name)))
    asked = time.monotonic() - began
    eventually(lambda: api_metrics.well(cluster) == count, 1200)
    took = time.monotonic() - began
    eventually(lambda: crowd.open_to_work(cluster) >= count, 1200)
    open_, then = time.monotonic() - began, api_metrics.durations(cluster)
    changes, size = crowd.heard(cluster, "/api/v1/nodes", QUIET_SECONDS)
    print(
        f"{count} nodes: the last {count - before} have joined after {asked:.0f} s, {(count - before) / asked:.1f} a "
        f"second; are Ready after {took:.0f} s and open to work after {open_:.0f} s; Ready a minute later: "
        f"{api_metrics.well(cluster)}. "
        f"A watch of all nodes, such as each flannel has, brought {changes} changes in that time, {size / 1024:.0f} KB",
        flush=True,
    )
    return api_metrics.between(first, then), api_metrics.between(then, api_metrics.durations(cluster))


def told(when: str, found: dict[str, Latency]) -> None:
    for verb in VERBS:
        if verb in found:
            one = found[verb]
            print(f"  {when}: {verb}: {one.calls} calls, p50 {one.p50_ms:.0f} ms, p99 {one.p99_ms:.0f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=STEPS[-1])
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        running = make(Path(folder), FLAGS, crowd.table(STEPS[-1] // 2), "large")
        cluster = next(running)
        try:
            crowd.play(cluster)
            names: set[str] = set()
            quiet: dict[int, dict[str, Latency]] = {}
            for count in [one for one in STEPS if one <= most]:
                joining, quiet[count] = step(cluster, names, count)
                told("joining", joining)
                told(f"a quiet minute, {QUIET_SECONDS} s", quiet[count])
                memory = crowd.memory_mib(cluster)
                print(f"  memory: {', '.join(f'{name} {mib} MiB' for name, mib in memory.items())}", flush=True)
            small, large = min(quiet), max(quiet)
            ratio = quiet[large]["PUT"].p99_ms / quiet[small]["PUT"].p99_ms
            print(f"p99 of a lease's PUT at {large} nodes: {ratio:.1f} times that at {small}")
        finally:
            running.close()


if __name__ == "__main__":
    main()
