"""The pods' overlay between machines of the lab, as flannel lays it on nodes: the kernel's VXLAN, by the rendered net-conf.

Of flannel's vxlan backend (`pkg/backend/vxlan`): one device a node with the first address of its pods' prefix, and for
each other node a neighbour, a forwarding entry and a route. Nothing is learnt, nothing is flooded.
"""

import json
from ipaddress import IPv4Network
from typing import Any, NamedTuple

from .machines import Machine

DEVICE = "flannel.1"
# Of VXLAN over IPv4, which flannel takes off the outer MTU.
HEADS = 50


class Node(NamedTuple):
    """`address` is what the cloud sees, `pods` the node's own prefix."""

    machine: Machine
    address: str
    pods: IPv4Network

    @property
    def own(self) -> str:
        """The node's place in the overlay."""
        return str(self.pods[0])


def lay(conf: dict[str, Any], *nodes: Node) -> None:
    """`conf` is flannel's net-conf.json."""
    backend = conf["Backend"]
    hardware = {node.own: _device(node, backend) for node in nodes}
    for node in nodes:
        for other in nodes:
            if other != node:
                to = f"dev {DEVICE}"
                node.machine.ip(
                    f"neigh replace {other.own} lladdr {hardware[other.own]} {to} nud permanent",
                    f"route replace {other.pods} via {other.own} {to} onlink",
                )
                node.machine.run("bridge", "fdb", "append", hardware[other.own], "dev", DEVICE, "dst", other.address)


def _device(node: Node, backend: dict[str, Any]) -> str:
    """Its hardware address."""
    mtu = backend["MTU"] - HEADS
    node.machine.ip(
        f"link add {DEVICE} mtu {mtu} type vxlan id {backend['VNI']} local {node.address} dstport {backend['Port']} nolearning",
        f"addr add {node.own}/32 dev {DEVICE}",
        f"link set {DEVICE} up",
    )
    (told,) = json.loads(node.machine.run("ip", "-json", "link", "show", "dev", DEVICE))
    return str(told["address"])
