"""metrics-server's manifests, and the real one before a real API server."""

import subprocess
import sys
from pathlib import Path

from components.addons.monitoring import metrics_api
from components.addons.spec import AddOnsSpec
from components.control_plane import firewall as api_rules
from components.control_plane.machines import cluster_spec
from components.pools import firewall as pool_rules
from components.pools.spec import pool_spec
from fleet.monitoring import SPACE
from fleet.world import World
from local import namespace
from tests.components.addons import bed
from tests.components.addons.bed import measured, named
from tests.components.addons.test_queues import world

INSIDE = Path(__file__).with_name("in_own_network.py")


def test_what_it_tells_and_whom_it_trusts() -> None:
    """In a network of its own, where the machine has an address that endpoints may have."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", str(INSIDE)]
    command = ["unshare", *namespace.usable_mode().make, *words]
    done = subprocess.run(command, cwd=bed.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_nothing_is_trusted_unseen(example: AddOnsSpec) -> None:
    made = metrics_api.manifests(example)
    spec = named(made, "APIService", metrics_api.API)["spec"]
    assert "insecureSkipTLSVerify" not in spec
    assert "caBundle" not in spec, "the pods write it: an apply must not take it away"
    assert not [one for one in metrics_api.arguments() if "insecure" in one]
    assert not [one for one in made if one["kind"] == "Secret"]


def test_it_stands_on_the_network_of_two_machines(example: AddOnsSpec) -> None:
    made = metrics_api.manifests(example)
    deployment = named(made, "Deployment", metrics_api.ADDON)["spec"]
    assert deployment["replicas"] == 2
    pod = deployment["template"]["spec"]
    assert pod["hostNetwork"]
    (port,) = [port for one in pod["containers"] for port in one["ports"]]
    (service,) = named(made, "Service", metrics_api.ADDON)["spec"]["ports"]
    assert {port["containerPort"], port["hostPort"], service["targetPort"]} == {api_rules.METRICS_API_PORT}
    assert named(made, "PodDisruptionBudget", metrics_api.ADDON)["metadata"]["namespace"] == SPACE


def ways(of: World, pool: str, direction: str, port: int) -> set[str]:
    found = pool_rules.rules(of.fleet, of.plan, pool_spec(of.fleet, of.plan, pool))
    return {rule.peer for rule in found if (rule.direction, rule.first) == (direction, port)}


def with_api() -> World:
    of = world()
    return World(measured(of.fleet), of.plan, of.path)


def test_api_machines_reach_it_on_system_machines_and_it_reaches_every_kubelet() -> None:
    of, port = with_api(), api_rules.METRICS_API_PORT
    cluster = cluster_spec(of.fleet, of.plan, "main")
    api = {f"{machine.address}/32" for machine in cluster.api}
    assert ways(of, "system", "in", port) == api
    assert not ways(of, "west-gpu", "in", port)
    out = [one for one in api_rules.rules(cluster, of.plan.supernet) if one.first == port]
    assert [(one.part, one.direction, one.peer) for one in out] == [("api", "out", of.plan.supernet)]
    system = pool_spec(of.fleet, of.plan, "system")
    home = of.plan.site(system.place).lan if system.site else of.plan.region(system.place).network
    nodes = [name for name, pool in of.fleet.pools.items() if pool.cluster == "main" and pool.kind != "ssh"]
    for pool in nodes:
        assert ways(of, pool, "in", 10250) == {*api, home}, pool
    places = {pool_spec(of.fleet, of.plan, name) for name in nodes}
    asked = {of.plan.site(one.place).lan if one.site else of.plan.region(one.place).network for one in places}
    assert asked <= ways(of, "system", "out", 10250)
    assert not ways(of, "west-gpu", "out", 10250)


def test_a_fleet_that_does_not_ask_for_it_has_none_of_it() -> None:
    of = world()
    cluster = cluster_spec(of.fleet, of.plan, "main")
    assert not cluster.metrics_api
    assert api_rules.METRICS_API_PORT not in {one.first for one in api_rules.rules(cluster, of.plan.supernet)}
    assert not ways(of, "system", "in", api_rules.METRICS_API_PORT)
    assert not ways(of, "system", "out", 10250)
