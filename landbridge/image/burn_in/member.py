"""The machine as a node of the fleet's cluster, if it is one: which node, and how many GPUs its pool has bought."""

import contextlib
import ipaddress
import socket
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from components.pools.labels import POOL
from components.pools.spec import pool_spec
from fleet.work import ENDED
from fleet.world import World
from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError
from landbridge.pool import usage

Node = Mapping[str, Any]


class NoNode(LandbridgeError):
    """The machine is known to be a node of no cluster of the fleet's."""


class Member(NamedTuple):
    """`gpus` is None for a node of no pool of the fleet file."""

    name: str
    gpus: int | None


def find(kube: Kube, world: World, names: Set[str]) -> Member | None:
    """By any of its names and addresses. Raises KubeError, and LandbridgeError where more than one is meant."""
    node = chosen(kube.get("nodes")["items"], names)
    return None if node is None else Member(node["metadata"]["name"], gpus(world, node))


def chosen(nodes: Iterable[Node], names: Set[str]) -> Node | None:
    """Raises LandbridgeError where more than one is meant: a taint must not hit another's node."""
    found = [node for node in nodes if names & _names(node)]
    if len(found) > 1:
        listed = ", ".join(sorted(node["metadata"]["name"] for node in found))
        raise LandbridgeError(f"More than one node is called {' or '.join(sorted(names))}: {listed}.")
    return found[0] if found else None


def _names(node: Node) -> set[str]:
    addresses = {one["address"] for one in node.get("status", {}).get("addresses", ())}
    return {node["metadata"]["name"], *addresses}


def gpus(world: World, node: Node) -> int | None:
    """What the fleet file says that a machine of its pool has."""
    pool = node["metadata"].get("labels", {}).get(POOL)
    return pool_spec(world.fleet, world.plan, pool).hardware.gpus or None if pool in world.fleet.pools else None


def at_work(kube: Kube, name: str) -> list[str]:
    """NAMESPACE/NAME of each pod there that asks for GPUs and has not ended, be its program on them or on its way."""
    pods = kube.get("pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")["items"]
    return sorted(
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods
        if pod["status"].get("phase") not in ENDED and usage.gpus(pod)
    )


def names(host: str, hostname: str) -> set[str]:
    """What the machine may be called by: as it was named, by its address, and by its own name. No name of loopback."""
    found = {host, hostname.strip()}
    with contextlib.suppress(OSError):  # a name that only ssh's settings know
        found |= {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    return {name for name in found if name and name != "localhost" and not _loopback(name)}


def _loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
