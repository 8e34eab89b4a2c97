"""The example fleet's part in AWS with more sites, planned; and the gateways of one, with hubs at documentation addresses."""

import datetime
from dataclasses import replace
from pathlib import Path

from components.links.gateway.spec import GatewaySpec, gateway_specs
from components.links.plan import tunnels
from fleet.address.plan import AddressPlan, draft
from fleet.model import AzureSubscription, Fleet, Region, Site
from fleet.world import World, current

ROOT = Path(__file__).parents[3]
# A site with two gateways.
PAIR = Site(gateways=["192.0.2.20", "192.0.2.21"], asn=65020)
# Besides the example's three of AWS.
AZURE, WEST_EUROPE = "westeurope", Region(cloud="azure", zones=["1", "2", "3"])
NOBODY = "00000000-0000-0000-0000-000000000000"


def in_aws(fleet: Fleet) -> Fleet:
    """Without regions of Azure, and without pools there."""
    regions = {name: region for name, region in fleet.regions.items() if region.cloud == "aws"}
    pools = {name: pool for name, pool in fleet.pools.items() if pool.region in (None, *regions)}
    return fleet.model_copy(update={"regions": regions, "pools": pools})


def example_in_aws() -> World:
    """The example's part in AWS, by the example's own ledger."""
    found = current(ROOT / "fleet.yaml")
    return replace(found, fleet=in_aws(found.fleet))


def planned(*azure: str, **sites: Site) -> tuple[Fleet, AddressPlan]:
    """The example's part in AWS, with these regions of Azure and these sites besides."""
    fleet = in_aws(current(ROOT / "fleet.yaml").fleet)
    update: dict[str, object] = {"sites": {**fleet.sites, **sites}}
    if azure:
        update["regions"] = {**fleet.regions, **dict.fromkeys(azure, WEST_EUROPE)}
        update["azure"] = AzureSubscription(subscription_id=NOBODY, tenant_id=NOBODY)
    fleet = fleet.model_copy(update=update)
    return fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan


def gateways(site: str = "lab", *azure: str, **sites: Site) -> list[GatewaySpec]:
    fleet, plan = planned(*azure, **sites)
    outside = {one.name: f"198.51.100.{number}" for number, one in enumerate(tunnels(fleet, plan), 1)}
    return gateway_specs(fleet, plan, site, outside)
