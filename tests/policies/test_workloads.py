"""The labels by which workloads are judged are those that nodes have, and the example's own add-ons have a place."""

import pytest

from components.addons import addons
from components.addons.component import resource_name, token
from components.addons.spec import addons_spec
from components.pools import labels
from components.pools.spec import pool_spec
from fleet.world import World
from policies import workloads
from tests.components.addons import bed

from .judging import example, findings


@pytest.fixture(scope="module")
def world() -> World:
    return example()


def differing(told: World) -> list[str]:
    """Pools of whose labels the policies think otherwise than nodes have them."""
    found = []
    for name, pool in told.fleet.pools.items():
        real = labels.labels(pool_spec(told.fleet, told.plan, name))
        ours = {key: value for key, value in real.items() if key.startswith(labels.DOMAIN) or key == labels.GPU_PRESENT}
        if workloads.labels(told.fleet, name, pool) != ours:
            found.append(name)
    return found


def refused(told: World, cluster: str) -> list[str]:
    made = addons.manifests(addons_spec(told.fleet, told.plan, cluster))
    resources = [
        {"type": token(one), "name": resource_name(one), "protect": False, "props": one}
        for manifests in made.values()
        for one in manifests
    ]
    assert sum(one["type"] in workloads.WORKLOADS for one in resources) > 5
    return [found.what for found in findings(resources, told)]


def test_labels_are_those_that_nodes_have(world: World) -> None:
    assert differing(world) == []
    assert differing(bed.both()) == [], "sizes of Azure with InfiniBand have a label, too"


def test_the_example_s_add_ons_have_somewhere_to_run(world: World) -> None:
    assert refused(world, "main") == []


@pytest.mark.parametrize("cluster", ["main", "south"])
def test_add_ons_have_somewhere_to_run_in_azure_too(cluster: str) -> None:
    told = bed.both()
    # With nodes there alone nobody else has what a daemon set looks for.
    pools = {name: pool for name, pool in told.fleet.pools.items() if pool.region == "southcentralus"}
    for fleet in (told.fleet, told.fleet.model_copy(update={"pools": pools})):
        assert refused(World(fleet, told.plan, told.path), cluster) == []
