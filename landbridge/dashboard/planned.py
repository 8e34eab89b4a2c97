"""What is planned of a cluster: the places where it has machines, and what joins them. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from components.links.connections import connection_name
from components.links.plan import Crossing, Peering, Tunnel, between, crossings, peerings, tunnels
from fleet import fleet_metrics
from fleet.address import sizes
from fleet.address.plan import AddressPlan
from fleet.model import Fleet
from fleet.regions import CLOUDS


class Place(NamedTuple):
    """`kind` is region or site, `cloud` a region's. `home`: the cluster's control plane is there."""

    name: str
    kind: str
    cloud: str
    home: bool

    @property
    def badge(self) -> str:
        return self.cloud or self.kind


class Planned(NamedTuple):
    """In the order of the fleet file."""

    regions: Sequence[Place] = ()
    sites: Sequence[Place] = ()
    tunnels: Sequence[Tunnel] = ()
    peerings: Sequence[Peering] = ()
    crossings: Sequence[Crossing] = ()

    def connections(self) -> Iterator[tuple[str, str]]:
        """Of each tunnel its name and its connection's, as services/fleet_metrics tells of it."""
        for one in self.tunnels:
            gateway = (one.number - 1) // sizes.TUNNELS_A_GATEWAY + 1
            yield one.name, connection_name(one.region, one.site, gateway)
        for each in self.crossings:
            yield each.name, connection_name(each.aws, each.azure, each.instance + 1)

    def as_json(self) -> list[dict[str, Any]]:
        return [one._asdict() for one in (*self.regions, *self.sites)]


def planned(fleet: Fleet, plan: AddressPlan, cluster: str) -> Planned:
    there = fleet_metrics.places(fleet, cluster)
    home = fleet.clusters[cluster].region
    return Planned(
        [
            Place(name, "region", CLOUDS[one.cloud], name == home)
            for name, one in fleet.regions.items()
            if name in there
        ],
        [Place(name, "site", "", home=False) for name in fleet.sites if name in there],
        [one for one in tunnels(fleet, plan) if {one.site, one.region} <= there],
        between(peerings(fleet), there),
        [one for one in crossings(fleet, plan) if {one.aws, one.azure} <= there],
    )
