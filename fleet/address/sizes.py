"""How large the fleet's blocks are, in prefix lengths. One table for every cloud."""

from typing import NamedTuple

# A region's block is four times its network, a site's twice its LAN: laptop pools go there, and what comes later
# grows there without a new route anywhere. A cluster's block is twice its pods.
GROWTH_BITS = 2


class RegionSize(NamedTuple):
    """Prefix lengths. `network` becomes the VPC or VNet: AWS takes /16 to /28."""

    block: int
    network: int
    zone: int
    private: int
    public: int


class ClusterSize(NamedTuple):
    """`nodes` at /25 each: 126 addresses for kubelet's 110 pods."""

    nodes: int
    block: int
    pods: int
    services: int


def _region(network: int) -> RegionSize:
    # Eight zone slots: AWS has at most six zones a region, and a slot that was given back rests before it is reused.
    zone = network + 3
    return RegionSize(network - GROWTH_BITS, network, zone, private=zone + 1, public=zone + 2)


REGIONS = {"small": _region(20), "medium": _region(18), "large": _region(16)}
SITES = {"small": (22, 23), "medium": (20, 21), "large": (16, 17)}  # block, LAN
CLUSTERS = {
    "small": ClusterSize(500, block=15, pods=16, services=20),
    "medium": ClusterSize(2_500, block=12, pods=13, services=20),
    "large": ClusterSize(5_000, block=11, pods=12, services=20),
}
# Subnets that Azure's own services need: VPN gateways take no less than a /27, and every service more addresses than it
# shows. Each of a resolver's two ends takes a /28.
GATEWAYS = {"small": 27, "medium": 26, "large": 26}
NAMES = 28
# Two servers in two zones, each with a pool of its own, so that a client's route names its server.
LAPTOP_POOLS = (1, 2)
LAPTOPS = 24
TUNNEL = 30
TUNNELS_A_GATEWAY = 2  # both AWS and Azure end a connection in two tunnels
TUNNELS_BETWEEN_CLOUDS = 4  # Azure's pair of gateways times AWS's pair of tunnels
# Single addresses come from the first /27 of a private subnet, which is kept from automatic assignment. AWS and Azure
# keep the first four addresses of every subnet.
FIXED = 27
RESERVED_BY_CLOUDS = 30
ADDRESS = 32
