"""What the control plane's programs tell of themselves: latencies of calls by verb, and how many nodes are well."""

import http.client
import re
import ssl
from collections import defaultdict
from typing import NamedTuple

from tests.components.pools.joining_cluster import Cluster

LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DURATION = "apiserver_request_duration_seconds_bucket"
# They last as long as somebody listens.
LONG = ("WATCH", "CONNECT")
Counts = dict[str, dict[float, float]]


class Latency(NamedTuple):
    calls: int
    p50_ms: float
    p99_ms: float


def read(cluster: Cluster, port: str) -> list[tuple[str, dict[str, str], float]]:
    """Name, labels and value of every metric of `api` or `controllers`."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(cluster.folder / "admin.crt", cluster.folder / "admin.key")
    line = http.client.HTTPSConnection("127.0.0.1", cluster.ports[port], timeout=120, context=context)
    line.request("GET", "/metrics")
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    assert answer.status == 200, text[:300]
    lines = (LINE.match(one) for one in text.splitlines() if not one.startswith("#"))
    return [(one[1], dict(LABEL.findall(one[2] or "")), float(one[3])) for one in lines if one]


def durations(cluster: Cluster) -> Counts:
    """Verb → upper bound in seconds → calls since the start that were not longer."""
    found: Counts = defaultdict(lambda: defaultdict(float))
    for name, labels, value in read(cluster, "api"):
        if name == DURATION and labels["verb"] not in LONG:
            found[labels["verb"]][float(labels["le"])] += value
    return {verb: dict(bounds) for verb, bounds in found.items()}


def between(before: Counts, after: Counts) -> dict[str, Latency]:
    """Of the calls that came in between, by verb."""
    found = {}
    for verb, bounds in after.items():
        rest = {bound: count - before.get(verb, {}).get(bound, 0) for bound, count in sorted(bounds.items())}
        calls = int(rest[float("inf")])
        if calls:
            found[verb] = Latency(calls, 1000 * quantile(rest, 0.5), 1000 * quantile(rest, 0.99))
    return found


def quantile(bounds: dict[float, float], share: float) -> float:
    """As Prometheus reckons it: evenly within a bucket, and no more than the last bound that is a number."""
    wanted, low, before = share * bounds[float("inf")], 0.0, 0.0
    for bound, count in sorted(bounds.items()):
        if count >= wanted:
            if bound == float("inf"):
                return low
            return low + (bound - low) * (wanted - before) / max(count - before, 1e-9)
        low, before = bound, count
    return low


def well(cluster: Cluster) -> int:
    """Nodes that the controllers hear of."""
    size = unhealthy = 0.0
    for name, _, value in read(cluster, "controllers"):
        size += value if name == "node_collector_zone_size" else 0
        unhealthy += value if name == "node_collector_unhealthy_nodes_in_zone" else 0
    return int(size - unhealthy)
