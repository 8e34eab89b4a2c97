"""What is joined with what, from the fleet and its addresses alone."""

import datetime
from ipaddress import ip_network

from components.links.plan import Peering, peerings, tunnels
from fleet.address.plan import draft
from fleet.model import Region, Site

from .bed import planned


def test_every_site_has_two_tunnels_with_every_region_for_each_of_its_gateways() -> None:
    fleet, plan = planned(attic=Site(gateways=["192.0.2.20", "192.0.2.21"], asn=65020))
    found = tunnels(fleet, plan)
    assert {f"link/{one.name}": one.inside_cidr for one in found} == dict(plan.tunnels), "all that the plan has"
    attic = [(one.number, one.gateway) for one in found if (one.site, one.region) == ("attic", "eu-west-1")]
    assert attic == [(1, "192.0.2.20"), (2, "192.0.2.20"), (3, "192.0.2.21"), (4, "192.0.2.21")]
    assert len([one for one in found if one.site == "lab"]) == 6
    assert {ip_network(one.inside_cidr).prefixlen for one in found} == {30}


def test_another_site_touches_no_tunnel_that_is_there() -> None:
    fleet, plan = planned()
    before, ledger = tunnels(fleet, plan), draft(fleet, None, datetime.date(2026, 1, 1)).ledger
    more = fleet.model_copy(update={"sites": {"attic": Site(gateways=["192.0.2.20"], asn=65020), **fleet.sites}})
    after = tunnels(more, draft(more, ledger, datetime.date(2026, 1, 2)).plan)
    assert set(before) < set(after)
    assert len(after) == len(before) + 6


def test_regions_of_one_cloud_are_peers_each_with_each() -> None:
    fleet, _ = planned()
    assert peerings(fleet) == [
        Peering("eu-west-1", "us-east-1"),
        Peering("eu-west-1", "us-west-2"),
        Peering("us-east-1", "us-west-2"),
    ]
    azure = {"westeurope": Region(cloud="azure", zones=["1"])}
    assert peerings(fleet.model_copy(update={"regions": {**fleet.regions, **azure}})) == peerings(fleet)
