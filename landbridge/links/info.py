"""The links as their stack published them (`stacks.outputs.LinksOutputs`), and the keys that it names."""

from collections.abc import Callable, Mapping
from typing import Any

from components.links.gateway.spec import GatewaySpec, gateway_specs
from fleet.buckets import in_azure
from fleet.model import Cloud
from fleet.world import World
from landbridge.clouds.aws.lookups import ClientOf
from landbridge.cluster.info import published, up
from landbridge.cluster.session import clients_at
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from stacks.catalogue import LINKS

from .aws import keys as aws
from .azure import keys as azure

# A connection's keys, by where they are kept: the place, its region, and its secret's name there.
STORED_KEYS: Mapping[Cloud, Callable[[World, Place, str, str], dict[str, str]]] = {
    "aws": aws.stored_keys,
    "azure": azure.stored_keys,
}


class Connections:
    """Those with sites, by their names; of one site or of all."""

    def __init__(self, world: World, place: Place, site: str | None = None) -> None:
        """Raises LandbridgeError when the links are not up, or were before the site came."""
        self.world, self.place = world, place
        found: Mapping[str, Any] = published(place, LINKS).get("connections") or {}
        self.found = {name: one for name, one in found.items() if site in (None, one.get("site"))}
        if not self.found:
            raise LandbridgeError(f"{f'Site {site} has' if site else 'There is'} no link yet. Run `{self.up}`.")

    @property
    def up(self) -> str:
        return up(self.place, LINKS)

    @property
    def outside(self) -> dict[str, str]:
        """The regions' public addresses by tunnels' names."""
        return {tunnel: str(at) for one in self.found.values() for tunnel, at in one["hub_addresses"].items()}

    def gateways(self, site: str) -> list[GatewaySpec]:
        """Of a site of the fleet file. Raises LandbridgeError when a tunnel of it is not built."""
        try:
            return gateway_specs(self.world.fleet, self.world.plan, site, self.outside)
        except KeyError as error:
            raise LandbridgeError(f"The links lack tunnel {error.args[0]} yet. Run `{self.up}`.") from None

    def of(self, region: str) -> ClientOf:
        """The cloud's APIs in a region."""
        return clients_at(self.world, self.place, region)

    def keys(self) -> dict[str, str]:
        """Pre-shared keys by tunnels' names. Raises LandbridgeError."""
        return {tunnel: key for one in self.found.values() for tunnel, key in self._keys_of(one).items()}

    def _keys_of(self, one: Mapping[str, Any]) -> dict[str, str]:
        cloud: Cloud = "azure" if in_azure(self.world.fleet, one["region"]) else "aws"
        return STORED_KEYS[cloud](self.world, self.place, one["region"], one["secret"])
