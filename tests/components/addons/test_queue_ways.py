"""Who reaches the webhooks of queues: API machines, on system machines, in clusters with queues alone."""

from components.control_plane import firewall as api_rules
from components.control_plane.machines import cluster_spec
from components.pools import firewall as pool_rules
from components.pools.spec import pool_spec
from fleet.world import World
from tests.components.addons.test_queues import world

PORTS = set(api_rules.WEBHOOK_PORTS.values())


def ways(of: World, pool: str) -> set[tuple[int | None, str]]:
    found = pool_rules.rules(of.fleet, of.plan, pool_spec(of.fleet, of.plan, pool))
    return {(rule.first, rule.peer) for rule in found if rule.direction == "in" and rule.first in PORTS}


def without_queues(of: World) -> World:
    teams = {name: team.model_copy(update={"queues": {}}) for name, team in of.fleet.teams.items()}
    return World(of.fleet.model_copy(update={"teams": teams}), of.plan, of.path)


def test_api_machines_reach_the_webhooks_on_system_machines_and_nobody_else_does() -> None:
    told = world()
    cluster = cluster_spec(told.fleet, told.plan, "main")
    assert ways(told, "system") == {(port, f"{machine.address}/32") for port in PORTS for machine in cluster.api}
    assert not ways(told, "west-gpu")
    out = [rule for rule in api_rules.rules(cluster, told.fleet.supernet) if rule.first in PORTS]
    assert {(rule.part, rule.direction, rule.first, rule.peer) for rule in out} == {
        ("api", "out", port, told.fleet.supernet) for port in PORTS
    }


def test_a_cluster_without_queues_has_no_such_way() -> None:
    told = without_queues(world())
    assert not ways(told, "system")
    rules = api_rules.rules(cluster_spec(told.fleet, told.plan, "main"), told.fleet.supernet)
    assert not [rule for rule in rules if rule.first in PORTS]
