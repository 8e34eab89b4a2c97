"""Every fleet that is there to be copied: sound, planned, and such that its parts reach each other."""

from pathlib import Path

import pytest

from components.control_plane.machines import cluster_spec
from components.links.trace import unreachable
from fleet.world import World, current
from stacks.catalogue import catalogue, unserved

ROOT = Path(__file__).parents[2]
AZURE = ROOT / "examples/azure/fleet.yaml"
PATHS = [ROOT / "fleet.yaml", *sorted(ROOT.glob("examples/*/fleet.yaml"))]


@pytest.fixture(params=PATHS, ids=lambda path: path.parent.name)
def world(request: pytest.FixtureRequest) -> World:
    return current(request.param)


def test_its_ledger_fits_and_every_port_of_the_matrix_is_reached(world: World) -> None:
    for region in world.fleet.regions:
        assert unreachable(world.fleet, world.plan, region) == []


def test_every_entry_has_a_stack(world: World) -> None:
    stacks = {stack.name for stack in catalogue(world.fleet)}
    assert {*world.fleet.regions, *world.fleet.clusters, *world.fleet.pools} <= stacks
    assert unserved(world.fleet) == []


def test_the_azure_example_has_its_control_plane_in_azure_and_its_gpus_in_the_room() -> None:
    fleet = current(AZURE).fleet
    assert {region.cloud for region in fleet.regions.values()} == {"azure"}
    gpus = [pool for pool in fleet.pools.values() if pool.kind == "gpu"]
    assert gpus
    assert all(pool.site for pool in gpus)


def test_its_control_plane_has_planned_addresses_in_three_zones() -> None:
    world = current(AZURE)
    spec = cluster_spec(world.fleet, world.plan, "main")
    zones = world.plan.region("southcentralus").zones
    assert {machine.zone for machine in spec.machines} == set(zones)
    for machine in spec.machines:
        assert (world.plan.owner(machine.address) or "").startswith(
            f"region/southcentralus/zone/{machine.zone}/private/"
        )
