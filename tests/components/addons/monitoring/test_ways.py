"""Whom Prometheus' machines reach for metrics: API machines and each other, in clusters that are monitored alone."""

from typing import Any

import pytest

from components.addons.monitoring import control_plane
from components.addons.spec import AddOnsSpec
from components.control_plane import firewall as api_rules
from components.control_plane import machine_metrics
from components.control_plane.machines import cluster_spec
from components.pools import firewall as pool_rules
from components.pools.spec import pool_spec
from fleet.monitoring_model import Monitoring
from fleet.world import World
from tests.components.addons.test_queue_ways import without_queues
from tests.components.addons.test_queues import world

OF_API, OF_QUEUES = {*api_rules.METRICS_PORTS.values()}, {api_rules.QUEUES_METRICS_PORT}


def monitored(of: World, monitoring: Monitoring | None) -> World:
    return World(of.fleet.model_copy(update={"monitoring": monitoring}), of.plan, of.path)


def of_pool(of: World, pool: str) -> set[tuple[str, int | None, str]]:
    found = pool_rules.rules(of.fleet, of.plan, pool_spec(of.fleet, of.plan, pool))
    return {(one.direction, one.first, one.peer) for one in found if one.first in OF_API | OF_QUEUES}


def of_api(of: World) -> set[Any]:
    found = api_rules.rules(cluster_spec(of.fleet, of.plan, "main"), of.fleet.supernet)
    return {(one.part, one.direction, one.first, one.peer) for one in found if one.first in OF_API | OF_QUEUES}


def test_system_machines_reach_what_api_machines_tell_and_nobody_comes_to_theirs_but_they() -> None:
    told = monitored(world(), Monitoring())
    cluster, region = cluster_spec(told.fleet, told.plan, "main"), told.fleet.pools["system"].region
    assert region
    network = told.plan.region(region).network
    assert of_pool(told, "system") == {
        *(("out", port, f"{machine.address}/32") for port in OF_API for machine in cluster.api),
        *((way, port, network) for port in OF_QUEUES for way in ("in", "out")),
    }
    assert not of_pool(told, "west-gpu")
    assert of_api(told) == {("api", "in", port, told.fleet.supernet) for port in OF_API}


def of_etcd(of: World) -> set[Any]:
    found = api_rules.rules(cluster_spec(of.fleet, of.plan, "main"), of.fleet.supernet)
    return {(one.part, one.direction, one.peer) for one in found if one.first == machine_metrics.PORT}


def test_what_etcd_machines_tell_of_themselves_api_machines_alone_may_ask() -> None:
    assert of_etcd(monitored(world(), Monitoring())) == {("etcd", "in", "api"), ("api", "out", "etcd")}
    assert not of_etcd(monitored(world(), None))


@pytest.mark.parametrize("queues", [True, False])
def test_a_cluster_that_is_not_monitored_has_no_such_way(*, queues: bool) -> None:
    told = monitored(world() if queues else without_queues(world()), None)
    assert not of_pool(told, "system")
    assert not of_api(told)


def test_one_without_queues_has_none_among_system_machines() -> None:
    told = monitored(without_queues(world()), Monitoring())
    assert {port for _, port, _ in of_pool(told, "system")} == OF_API


def test_those_are_the_ports_that_are_asked(example: AddOnsSpec) -> None:
    asked = {
        int(target.rpartition(":")[2])
        for config in control_plane.scrape_configs(example.cluster)
        for one in config["static_configs"]
        for target in one["targets"]
    }
    assert asked == OF_API | {6443}
