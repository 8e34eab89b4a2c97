"""What AWS is told of tunnels with a region of Azure: a connection with each instance of Azure's gateway. Pure."""

from itertools import groupby
from typing import NamedTuple

from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from ..connections import connection_name
from ..plan import Crossing, crossings
from .connections import options


class CrossCloudConnection(NamedTuple):
    """A connection of region `aws` with an instance, 0 or 1, of the gateway of region `azure`."""

    aws: str
    azure: str
    instance: int
    tunnels: tuple[Crossing, ...]

    @property
    def name(self) -> str:
        return connection_name(self.aws, self.azure, self.instance + 1)


def cross_cloud_connections(fleet: Fleet, plan: AddressPlan) -> list[CrossCloudConnection]:
    whose = groupby(crossings(fleet, plan), key=lambda one: (one.aws, one.azure, one.instance))
    return [CrossCloudConnection(*key, tuple(both)) for key, both in whose]


def tunnel_options(one: CrossCloudConnection) -> dict[str, object]:
    """Azure's end only answers, so this one begins, and does so again when it was lost."""
    return options((tunnel.inside_cidr for tunnel in one.tunnels), startup_action="start")
