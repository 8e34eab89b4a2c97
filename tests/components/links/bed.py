"""The example fleet with more sites, planned; and the gateways of one, with hubs at documentation addresses."""

import datetime
import sys
from pathlib import Path

from components.links.gateway.spec import GatewaySpec, gateway_specs
from components.links.plan import tunnels
from fleet.address.plan import AddressPlan, draft
from fleet.model import Fleet, Site
from fleet.world import current

ROOT = Path(__file__).parents[3]
# A site with two gateways.
PAIR = Site(gateways=["192.0.2.20", "192.0.2.21"], asn=65020)
# As on the gateway, where scripts lie beside each other.
sys.path.append(str(ROOT / "components/links/on_machine"))


def planned(**sites: Site) -> tuple[Fleet, AddressPlan]:
    """The example with these sites besides its own."""
    fleet = current(ROOT / "fleet.yaml").fleet
    fleet = fleet.model_copy(update={"sites": {**fleet.sites, **sites}})
    return fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan


def gateways(site: str = "lab", **sites: Site) -> list[GatewaySpec]:
    fleet, plan = planned(**sites)
    outside = {one.name: f"198.51.100.{number}" for number, one in enumerate(tunnels(fleet, plan), 1)}
    return gateway_specs(fleet, plan, site, outside)
