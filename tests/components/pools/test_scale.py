"""Two hundred machines join at once, half of them at a site: bench/scale.py in small, on the same real control plane."""

import time
from pathlib import Path

from components.control_plane.profiles import PROFILES
from tests.components.pools import api_metrics, crowd
from tests.components.pools.joining_client import eventually
from tests.components.pools.joining_cluster import make

EACH = 100
# 20 s on two cores with nothing else to do.
MOST_SECONDS = 240


def test_two_hundred_machines_join_and_stay(tmp_path: Path) -> None:
    running = make(tmp_path, pools=crowd.table(EACH), size="large")
    cluster = next(running)
    try:
        crowd.play(cluster)
        machines = [*crowd.hosts(1, EACH), *crowd.instances(cluster, EACH)]
        crowd.enrol(cluster, machines)
        before, began = api_metrics.durations(cluster), time.monotonic()
        crowd.join(cluster, machines)
        eventually(lambda: api_metrics.well(cluster) == 2 * EACH, MOST_SECONDS)
        assert time.monotonic() - began < MOST_SECONDS
        told = api_metrics.between(before, api_metrics.durations(cluster))
        # A request and a Node of each, at the least.
        assert told["POST"].calls >= 4 * EACH
        assert told["POST"].p50_ms <= told["POST"].p99_ms < 30_000
        nodes = cluster.admin("GET", "/api/v1/nodes")["items"]
        assert {one["metadata"]["name"] for one in nodes} == {one.name for one in machines}
        assert len({one["spec"]["podCIDR"] for one in nodes}) == 2 * EACH
        eventually(lambda: "startup-taint" not in str(cluster.admin("GET", "/api/v1/nodes")), MOST_SECONDS)
        asked = cluster.log("service").count(" is a host of site lab")
        assert asked == EACH, "each by a token of its own"
        assert cluster.log("service").count(" runs in pool west-gpu") == EACH
    finally:
        running.close()


def test_quantiles_are_those_of_the_buckets() -> None:
    inf = float("inf")
    assert api_metrics.quantile({0.1: 0, 0.2: 100, inf: 100}, 0.5) == 0.15000000000000002
    assert api_metrics.quantile({0.1: 50, 0.2: 50, inf: 100}, 0.99) == 0.2, "nobody knows how long the rest took"
    told = api_metrics.between({"GET": {0.1: 10, inf: 10}}, {"GET": {0.1: 10, inf: 10}, "PUT": {0.1: 4, inf: 4}})
    assert told == {"PUT": (4, 50.0, 99.0)}


def test_a_cluster_of_every_size_has_a_bound() -> None:
    assert {profile.nodes for profile in PROFILES.values()} == set(crowd.PODS)
