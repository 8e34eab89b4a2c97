"""What a fleet needs of its clouds' quotas, by region. Pure.

Machines are those of pools, control planes and servers for laptops. A roll ends a machine before its successor starts,
so it needs no more than stands.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleet import laptops, quotas, shapes
from fleet.model import Cloud, Fleet
from fleet.quotas import Place
from landbridge.prices.bought import Bought, bought

VCPUS = "vCPUs"
ADDRESSES, NETWORKS = ("addresses",), ("networks",)
WORDS: Mapping[Place, str] = {ADDRESSES: "public addresses", NETWORKS: "networks"}
# NAT gateways have one each, and so have servers for laptops; in Azure each instance of the hub, too.
HUB_ADDRESSES: Mapping[Cloud, int] = {"aws": 0, "azure": 2}


class Need(NamedTuple):
    """`now` with pools at their min, `most` at their max, by who needs it: pools, and other parts of the fleet."""

    region: str
    place: Place
    now: Mapping[str, int]
    most: Mapping[str, int]

    @property
    def unit(self) -> str:
        return WORDS.get(self.place, VCPUS)


class Uncounted(NamedTuple):
    """Machines of which nobody knows how many vCPUs they have, or in which quota these count."""

    region: str
    what: str
    instance_type: str


def needs(fleet: Fleet) -> tuple[list[Need], list[Uncounted]]:
    """In the order of the file."""
    now, most = (defaultdict[tuple[str, Place], dict[str, int]](dict) for _ in range(2))
    uncounted = list[Uncounted]()
    for one in bought(fleet):
        counted = list(_counted(fleet, one))
        if not counted:
            uncounted.append(Uncounted(one.region, one.what, one.instance_type))
        for place, cpus in counted:
            now[one.region, place][one.what] = one.least * cpus
            most[one.region, place][one.what] = one.most * cpus
    for region in fleet.regions:
        for place, number in _network(fleet, region):
            now[region, place][region] = most[region, place][region] = number
    order = [*fleet.regions]
    found = [Need(region, place, now[region, place], most[region, place]) for region, place in most]
    return sorted(found, key=lambda one: (order.index(one.region), one.place in WORDS, one.place)), uncounted


def _counted(fleet: Fleet, one: Bought) -> Iterator[tuple[Place, int]]:
    """Every quota that such a machine counts in, and its vCPUs."""
    known = shapes.listed(fleet, one.region, one.instance_type)
    if known:
        for place in quotas.of_type(known.shape.family, fleet.regions[one.region].cloud, spot=one.spot):
            yield place, known.shape.cpus


def _network(fleet: Fleet, region: str) -> Iterator[tuple[Place, int]]:
    about = fleet.regions[region]
    nats = 1 if about.nat == "one" else len(about.zones)
    yield ADDRESSES, nats + len(laptops.servers(fleet, region)) + HUB_ADDRESSES[about.cloud]
    yield NETWORKS, 1
