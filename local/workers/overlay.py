"""The network of pods between machines: kept as flannel keeps it on a real node, by what the API has of all nodes.

Pods of a machine share one address of its podCIDR. It comes with the first pod that is real: those that are only played
send nothing, and a crowd of such nodes need not hear of each other. A kubelet may not read other nodes, but flannel
may, which is on every node.
"""

import threading
import time
from collections.abc import Iterable

from kube_http import Json, Kube, follow
from local.machines.network import NetworkError

from . import tokens, vxlan
from .background import background
from .unit import say

NODES = "/api/v1/nodes"
# The add-on's: components/addons/flannel.py.
FLANNEL = "flannel"
# So long the first pods wait for it: with flannel on the node it comes, without it may be never.
SETTLE_SECONDS, SHORT_SECONDS = 120.0, 20.0


class Overlay:
    """Of one machine, the node `name` with the address `host`. `address` is that of its pods, empty until it is up."""

    def __init__(self, api: Kube, name: str, host: str) -> None:
        self.name, self.host, self.address = name, host, ""
        self.flannel = tokens.Borrowed(api, name, FLANNEL)
        self.as_flannel = Kube(api.server, api.authority, token=self.flannel.current)
        self.nodes: dict[str, vxlan.Member] = {}
        self.own: vxlan.Member | None = None
        self.laid: set[vxlan.Member] = set()
        self.lock = threading.Lock()
        self.begun = 0.0
        self.refused = False
        self.said: set[str] = set()

    # From pods' threads.

    def of(self, pod: Json) -> str | None:
        """The address of a pod that begins now; None: it is known soon."""
        with self.lock:
            if not self.begun:
                self.begun = time.monotonic()
                background(self.run)
        if pod["spec"].get("hostNetwork"):
            return self.host
        if self.address:
            return self.address
        patience = SETTLE_SECONDS if self.flannel.found else SHORT_SECONDS
        if not self.refused and time.monotonic() < self.begun + patience:
            return None
        self.once(f"there is no {vxlan.DEVICE} yet: pods that begin now have the machine's address")
        return self.host

    def once(self, text: str) -> None:
        with self.lock:
            known = text in self.said
            self.said.add(text)
        if not known:
            say(text)

    # In its own.

    def run(self) -> None:
        """For ever."""
        follow(
            self.as_flannel,
            NODES,
            lambda node: (name(node), vxlan.member(node)),
            self.listed,
            self.changed,
            self.broken,
        )

    def listed(self, found: Iterable[tuple[str, vxlan.Member | None]]) -> None:
        self.nodes = {name: one for name, one in found if one}
        self.settle()

    def changed(self, kind: str, node: Json) -> None:
        before = self.nodes.pop(name(node), None)
        now = None if kind == "DELETED" else vxlan.member(node)
        if now:
            self.nodes[name(node)] = now
        if now != before:
            self.settle()

    def broken(self, why: str) -> None:
        """What is laid stays."""
        # It may have been bound to a pod that has gone.
        self.flannel.forget()
        self.once(f"ways to other nodes' pods stay as they are: {why.partition(': ')[2]}")

    def settle(self) -> None:
        """As the nodes are now; what fails is tried again with their next change, but for the device itself."""
        own = self.nodes.get(self.name)
        if own is None or self.refused:
            return
        try:
            if own != self.own:
                vxlan.begin(own)
                self.own, self.laid = own, set()
            self.lead(own, {one for one in self.nodes.values() if one.host != own.host})
        except (NetworkError, ValueError) as error:
            self.refused = self.own is None
            self.once(f"ways to other nodes' pods: {error}")
        else:
            self.address = own.address

    def lead(self, own: vxlan.Member, others: set[vxlan.Member]) -> None:
        """Raises NetworkError, ValueError."""
        if old := self.laid - others:
            vxlan.forget(old)
            # A machine may have been two nodes for a while, and what went was the way to both.
            gone = {one.host for one in old}
            self.laid = {one for one in self.laid if one.host not in gone}
        if new := others - self.laid:
            vxlan.lead(own, new)
            self.laid |= new


def name(node: Json) -> str:
    return str(node["metadata"]["name"])
