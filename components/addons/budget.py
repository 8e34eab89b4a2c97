"""What each add-on may ask of the API: calls of a client when it starts, and in a quiet hour after.

Quiet is when no service, policy or node comes or goes. Watches still end, after five to ten minutes as client-go asks
for, and each end is a new call. The calls of one do not grow with the nodes; what a watch
brings does, and stands in watches.py.
"""

from typing import Literal, NamedTuple

# A watch of client-go is begun anew after five minutes at the earliest.
RENEWALS_AN_HOUR = 12


class Budget(NamedTuple):
    """`clients` are one a node, or a few a place. `watches` are those it holds, `more` its other calls an hour."""

    clients: Literal["node", "place"]
    starting: int
    watches: int
    more: int
    known: Literal["measured", "derived"]

    @property
    def hourly(self) -> int:
        return self.watches * RENEWALS_AN_HOUR + self.more


BUDGETS = {
    # Its subnet is read and its annotations written; nodes are listed and watched.
    "flannel": Budget("node", 6, 1, 0, "derived"),
    # Services, endpoint slices, service ranges and its own node, each listed and watched; an event that it starts.
    "kube-proxy": Budget("node", 12, 4, 0, "derived"),
    # Pods, namespaces, policies.
    "kube-network-policies": Budget("node", 8, 3, 0, "derived"),
    # Services, namespaces, endpoint slices; at its start it asks for the server's version.
    "coredns": Budget("place", 10, 3, 0, "measured"),
}
# What a node's kubelet asks: a lease each ten seconds, a status in five minutes, its own watches.
KUBELET_HOURLY = 360 + 12 + 5 * RENEWALS_AN_HOUR
# Add-ons together may ask no more than a quarter of that.
SHARE = 4


def hourly_per_node() -> int:
    """Calls in a quiet hour that each node adds, by its add-ons."""
    return sum(one.hourly for one in BUDGETS.values() if one.clients == "node")


def a_second(nodes: int) -> float:
    """Calls a second in quiet that add-ons of so many nodes make."""
    return nodes * hourly_per_node() / 3600
