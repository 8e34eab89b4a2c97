"""What the rules of a GPU pool's machines are for, as packets: from whom, to whom, on which port.

Beside the table that security groups are compiled from: a rule that is taken out there fails here.
"""

from typing import NamedTuple

ETCD, API, OTHER_API, SITE = "main-etcd-1", "main-api-1", "main-api-2", "host-1.lab"
# Machines by their pools, and addresses by what is there; the test says which they are.
WEST, OTHER, EAST, SYSTEM = "west-gpu", "west-gpu again", "east-gpu", "system"


class Way(NamedTuple):
    source: str
    target: str
    port: int
    protocol: str = "tcp"


# By the pool's rules that it takes.
WAYS = {
    "in-kubelet-api-1": Way(API, WEST, 10250),
    "in-kubelet-api-2": Way(OTHER_API, WEST, 10250),
    "in-own-machines out-own-machines": Way(WEST, OTHER, 40_000),
    "in-pods-us-west-2": Way(SYSTEM, WEST, 8472, "udp"),
    "out-pods-us-west-2": Way(WEST, SYSTEM, 8472, "udp"),
    "in-pods-us-east-1": Way(EAST, WEST, 8472, "udp"),
    "out-pods-us-east-1": Way(WEST, EAST, 8472, "udp"),
    "in-pods-lab": Way(SITE, WEST, 8472, "udp"),
    "out-pods-lab": Way(WEST, SITE, 8472, "udp"),
    "out-kubernetes-api-1": Way(WEST, API, 6443),
    "out-kubernetes-api-2": Way(WEST, OTHER_API, 6443),
    "out-kubernetes-balancer-a": Way(WEST, "main/balancer a", 6443),
    "out-kubernetes-balancer-b": Way(WEST, "main/balancer b", 6443),
    "out-kubernetes-balancer-c": Way(WEST, "main/balancer c", 6443),
    "out-nfs-us-west-2": Way(WEST, "shares of us-west-2", 2049),
    "out-nfs-us-east-1": Way(WEST, "shares of us-east-1", 2049),
    "out-nfs-lab": Way(WEST, SITE, 2049),
    "out-web-80": Way(WEST, SITE, 80),
    "out-web-443": Way(WEST, SITE, 443),
}
# A word about a packet that was too large; no program sends it for the asking.
UNTRIED = {"in-large-packets"}
CLOSED = {
    "SSH from a site": Way(SITE, WEST, 22),
    "the kubelet from a site": Way(SITE, WEST, 10250),
    "any port from another region's GPUs": Way(EAST, WEST, 40_000),
    "another pool's machines": Way(SYSTEM, WEST, 40_000),
    "etcd": Way(WEST, ETCD, 2379),
    "a site's other ports": Way(WEST, SITE, 22),
}
