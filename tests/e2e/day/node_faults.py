"""What takes a whole node from its pods. Each gets the pods of a node, and has ended them when it returns."""

import subprocess
from collections.abc import Callable
from typing import NamedTuple

from tests.support.cloud import COMMAND

from .faults import ENDED, Pods
from .world import World, until

BACK_SECONDS = 400.0
AWS, AZURE, SITE = "us-west-2", "southcentralus", "lab"


class NodeFault(NamedTuple):
    """`mend` gives the place back what it had."""

    places: tuple[str, ...]
    causes: frozenset[str]
    break_: Callable[[World, str], None]
    mend: Callable[[World, str], None]


def host(world: World, node: str, command: str, *words: str) -> None:
    """`landbridge local host` of a site's; those that name no fleet file."""
    name, _, site = node.partition(".")
    given = [COMMAND, "local", "host", command, site, name, *words]
    subprocess.run(given, env=world.cloud._environment(), check=True, capture_output=True)


def on_machine(world: World, node: str, command: str) -> None:
    """As root, in a shell of the machine's."""
    host(world, node, "run", "--", "sh", "-c", command)


def drain(world: World, node: str) -> None:
    """Cluster DNS has a budget that a place with one node left can't keep."""
    world.kubectl("drain", node, "--pod-selector=day", "--ignore-daemonsets", "--force", "--delete-emptydir-data")


def uncordon(world: World, node: str) -> None:
    world.kubectl("uncordon", node)


def taint(world: World, node: str) -> None:
    world.kubectl("taint", "node", node, "example.com/away=true:NoExecute")


def untaint(world: World, node: str) -> None:
    world.kubectl("taint", "node", node, "example.com/away-")


def terminate(world: World, node: str) -> None:
    instance = world.machine(node).rpartition("/")[2]
    world.cloud.python(f"client('ec2', '{AWS}').terminate_instances(InstanceIds=['{instance}'])")


def delete_in_azure(world: World, node: str) -> None:
    """The provider's id is the address of a machine of a scale set."""
    world.cloud.azure("DELETE", world.machine(node).removeprefix("azure://"), version="2024-07-01")


def kill_kubelet(world: World, node: str) -> None:
    on_machine(world, node, "systemctl stop kubelet")


def start_kubelet(world: World, node: str) -> None:
    on_machine(world, node, "systemctl start kubelet")


def power_off(world: World, node: str) -> None:
    host(world, node, "stop")


def power_on(world: World, node: str) -> None:
    name, _, site = node.partition(".")
    world.cloud.run("local", "host", "start", site, name)


def delete_node(world: World, node: str) -> None:
    world.kubectl("delete", "node", node, "--wait=false")


def register_again(world: World, node: str) -> None:
    on_machine(world, node, "systemctl restart kubelet")


def bought(world: World, node: str) -> None:
    """Its pool buys another."""


EVERY = (AWS, AZURE, SITE)
NODE_FAULTS = {
    "drain": NodeFault(EVERY, frozenset({"drained-by-person", "cordoned"}), drain, uncordon),
    "taint": NodeFault(EVERY, frozenset({"taint-manager"}), taint, untaint),
    "terminated": NodeFault((AWS,), frozenset({"machine-ended"}), terminate, bought),
    "deleted-machine": NodeFault((AZURE,), frozenset({"machine-ended", "node-silent"}), delete_in_azure, bought),
    "kubelet-dead": NodeFault((SITE,), frozenset({"node-silent"}), kill_kubelet, start_kubelet),
    "powered-off": NodeFault((SITE,), frozenset({"node-silent"}), power_off, power_on),
    "node-deleted": NodeFault((SITE,), frozenset({"deleted-by-person", "node-gone"}), delete_node, register_again),
}


def ended(world: World, fault: NodeFault, node: str, place: str, pods: Pods) -> None:
    number = len(world.nodes(place))
    try:
        fault.break_(world, node)
        # A silent node says nothing of pods that it should end.
        world.await_phase(pods, {"ends", *ENDED}, BACK_SECONDS)
    finally:
        fault.mend(world, node)
    world.await_phase(pods, ENDED, BACK_SECONDS)
    until(lambda: len(world.nodes(place)) >= number, BACK_SECONDS, f"{number} nodes of {place}")
