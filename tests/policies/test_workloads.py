"""The labels by which workloads are judged are those that nodes have, and the example's own add-ons have a place."""

import pytest

from components.addons import addons
from components.addons.component import resource_name, token
from components.addons.spec import addons_spec
from components.pools import labels
from components.pools.spec import pool_spec
from fleet.world import World
from policies import workloads

from .judging import example, findings


@pytest.fixture(scope="module")
def world() -> World:
    return example()


def test_labels_are_those_that_nodes_have(world: World) -> None:
    for name, pool in world.fleet.pools.items():
        real = labels.labels(pool_spec(world.fleet, world.plan, name))
        ours = workloads.labels(world.fleet, name, pool)
        assert ours.items() <= real.items()
        assert {key for key in real if key.startswith(labels.DOMAIN) or key == labels.GPU_PRESENT} == set(ours)


def test_the_example_s_add_ons_have_somewhere_to_run(world: World) -> None:
    made = addons.manifests(addons_spec(world.fleet, world.plan, "main"))
    resources = [
        {"type": token(one), "name": resource_name(one), "protect": False, "props": one}
        for manifests in made.values()
        for one in manifests
    ]
    assert sum(one["type"] in workloads.WORKLOADS for one in resources) > 5
    assert [found.what for found in findings(resources, world)] == []
