"""What each add-on may ask of the API: calls of a client when it starts, and in a quiet hour after.

Quiet is when no service, policy or node comes or goes. Watches still end, after five to ten minutes as client-go asks
for, and each end is a new call. The calls of one do not grow with the nodes; what a watch brings does, and stands in
watches.py.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

# A watch of client-go is begun anew after five minutes at the earliest.
RENEWALS_AN_HOUR = 12
# Nodes of the clusters in which bench/addon_calls.py counts.
SIZES = (500, 2500)


class Budget(NamedTuple):
    """`clients` are one a node, a few a place, one a site, or two in the cluster. `watches` are those it holds, `more`
    its other calls an hour.

    `counted` is by nodes what the real program asked: calls at its start, and calls an hour. It is empty for clients of
    the whole cluster or of a site, which are no more in a larger one.
    """

    clients: Literal["node", "place", "site", "cluster"]
    starting: int
    watches: int
    more: int
    counted: Mapping[int, tuple[int, int]]

    @property
    def hourly(self) -> int:
        """The most there can be: watches last five to ten minutes, and so less is counted."""
        return self.watches * RENEWALS_AN_HOUR + self.more


# At a start each thing is listed and watched, even by those that stream it in one call: an API server may refuse to.
BUDGETS = {
    # Its Node is read and its annotations written, each twice; nodes are listed and watched.
    "flannel": Budget("node", 6, 1, 0, {500: (6, 5), 2500: (6, 5)}),
    # Services, endpoint slices, service ranges and its own node, each listed and watched; an event that it starts.
    "kube-proxy": Budget("node", 9, 4, 0, {500: (5, 27), 2500: (5, 22)}),
    # Pods, namespaces, policies.
    "kube-network-policies": Budget("node", 6, 3, 0, {500: (3, 16), 2500: (3, 16)}),
    # Services, namespaces, endpoint slices.
    "coredns": Budget("place", 6, 3, 0, {500: (3, 16), 2500: (3, 16)}),
    # The leader of two. Besides what it watches: pods that wait once more, all nodes once, its lease and its status. In
    # an hour it renews the lease each two seconds, and reads and writes its status in each loop, two seconds apart at
    # least; the other replica reads the lease each two seconds, and nothing else. Its notes read two hours of
    # themselves at the start, and each ten seconds lease, status and the pods that have no node. Nobody ends machines
    # in a quiet hour, so the service beside it lists no nodes; where teams have queues, that of each of the two follows
    # runs and what is asked for them, ten minutes at a time.
    "cluster-autoscaler": Budget("cluster", 69, 24, RENEWALS_AN_HOUR + 3 * 1800 + 3 * 360 + 4 * 6, {}),
    # Each of the two: pods, nodes, events, Jobs, JobSets and workloads; of more than 500 a page more for each 500.
    # Nothing fails in a quiet hour, so no last lines are asked for.
    "recorder": Budget("cluster", 12, 6, 0, {}),
    # The leader of two reads and writes its lease each two seconds, the other one reads it: plans and nodes. Where
    # something is planned pods of those nodes are listed once a minute, and while they are drained each five seconds.
    "maintenance": Budget("cluster", 6, 2, 3 * 1800, {}),
    # The leader of two writes its lease each two seconds, and the other one reads it. At the start Kueue writes the
    # status of every queue, and its authority into definitions and webhooks.
    "kueue": Budget("cluster", 140, 20, 2 * 1800, {}),
    "jobset": Budget("cluster", 60, 8, 2 * 1800, {}),
    # Each of the two: pods of three namespaces; and each of three API servers is asked what it measures twice a minute.
    # Schedulers, controller managers and Kueue's pods have the API say each time who asks and whether they may; what
    # passes on etcd's does so once a minute.
    "prometheus": Budget("cluster", 6, 3, 3 * 120 + 2 * (2 * 3 + 2) * 120 + 2 * 3 * 60, {}),
    # Pods of one namespace.
    "site-metrics": Budget("site", 2, 1, 0, {}),
    # One, of six kinds.
    "kube-state-metrics": Budget("cluster", 12, 6, 0, {}),
    # Each of the two: nodes, heads of pods, and three times by which certificates API servers are known. Its own
    # certificate looks at the APIService once a minute. Whether a caller may, it asks once in ten seconds, and the only
    # one that comes by itself is the controller of HorizontalPodAutoscalers.
    "metrics-server": Budget("cluster", 12, 3, 2 * RENEWALS_AN_HOUR + 60 + 360, {}),
    # Whose a token is, when somebody of a team asks for logs, and nothing by itself.
    "log-reader": Budget("cluster", 0, 0, 0, {}),
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
