"""The kernel's VXLAN device of a machine, as flannel has it: what `ip` and `bridge` are told, and what is there.

Hardware addresses follow from the nodes' own addresses, so nodes need not tell each other of them.
"""

import contextlib
import ipaddress
import json
import socket
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from kube_http import Json
from local.machines import network
from local.machines.network import NetworkError

# The add-on's: components/addons/flannel.py, whose pods have what VXLAN leaves of the tunnels' MTU.
DEVICE, VNI, PORT, MTU = "flannel.1", 1, 8472, 1350


class Member(NamedTuple):
    """A node: its own address, and the range of its pods."""

    host: str
    pods: str

    @property
    def address(self) -> str:
        """The last one: kwok gives its pods the lowest that are free, and a node has fewer pods than addresses."""
        return str(ipaddress.IPv4Network(self.pods)[-2])

    @property
    def hardware(self) -> str:
        return ":".join(f"{byte:02x}" for byte in b"\x0a\x58" + ipaddress.IPv4Address(self.host).packed)


def member(node: Json) -> Member | None:
    """None for one that has no range yet."""
    told = (node.get("status") or {}).get("addresses") or []
    hosts = [one["address"] for one in told if one["type"] == "InternalIP"]
    pods = node["spec"].get("podCIDR")
    return Member(hosts[0], pods) if hosts and pods else None


def device(own: Member) -> list[str]:
    """For `ip`. The address is no network's: routes say who is where."""
    return [
        f"link add {DEVICE} address {own.hardware} mtu {MTU} "
        f"type vxlan id {VNI} local {own.host} dstport {PORT} nolearning",
        f"link set {DEVICE} addrgenmode none up",
        f"addr add {own.address}/32 dev {DEVICE}",
    ]


def laid(own: Member, others: Iterable[Member]) -> list[str]:
    """For `ip`. Neighbours first, so that no packet looks for one."""
    lines = []
    for one in sorted(others):
        lines += [
            f"neigh replace {one.address} lladdr {one.hardware} dev {DEVICE} nud permanent",
            f"route replace {one.pods} via {one.address} dev {DEVICE} onlink src {own.address}",
        ]
    return lines


def dropped(others: Iterable[Member]) -> list[str]:
    """For `ip`."""
    lines = []
    for one in sorted(others):
        lines += [f"route delete {one.pods} via {one.address} dev {DEVICE}", f"neigh delete {one.address} dev {DEVICE}"]
    return lines


def forwarded(verb: str, others: Iterable[Member]) -> list[str]:
    """For `bridge`: to which node goes what is for a hardware address."""
    return [f"fdb {verb} {one.hardware} dev {DEVICE} dst {one.host} self permanent" for one in sorted(others)]


def begin(own: Member) -> None:
    """The device, with no ways in it. Raises NetworkError, ValueError."""
    if not held(own.host):
        raise NetworkError(f"{own.host} is no address of this machine")
    if not same(own):
        tried("ip", [f"link delete {DEVICE}"])
        network.batch(device(own))
    # An earlier kubelet's, which may have missed a change.
    network.batch([f"route flush dev {DEVICE}", f"neigh flush dev {DEVICE} nud permanent"])


def lead(own: Member, others: Iterable[Member]) -> None:
    """Raises NetworkError, ValueError."""
    network.run(["bridge", "-batch", "-"], text(forwarded("replace", others)), "bridge fdb")
    network.batch(laid(own, others))


def forget(others: Iterable[Member]) -> None:
    tried("ip", dropped(others))
    tried("bridge", forwarded("delete", others))


def text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def tried(tool: str, lines: Iterable[str]) -> None:
    """What is gone already is no error."""
    with contextlib.suppress(NetworkError):
        network.run([tool, "-force", "-batch", "-"], text(lines))


def held(address: str) -> bool:
    """Whether it is this machine's."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((address, 0))
        return True
    return False


def same(own: Member) -> bool:
    """Whether an earlier kubelet has left just this device."""
    shown = ["ip", "-json", "-details", "address", "show", "dev", DEVICE]
    done = subprocess.run(shown, capture_output=True, text=True, check=False, env=network.environment())
    if done.returncode:
        return False
    (found,) = json.loads(done.stdout)
    kind = found["linkinfo"].get("info_data", {})
    addresses = [one["local"] for one in found["addr_info"] if one["family"] == "inet"]
    return [kind.get("id"), kind.get("local"), found["address"], *addresses] == [
        VNI,
        own.host,
        own.hardware,
        own.address,
    ]
