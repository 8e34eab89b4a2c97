"""What AWS is told of tunnels: everything that can be told, by names that the provider has, alike for both."""

import inspect

import pulumi_aws as aws

from components.links import tunnel_settings
from components.links.aws.connections import OPTIONS, options
from components.links.connections import connections
from fleet.model import Region, Site

from ..bed import planned

# What other resources make, and IPv6.
ELSEWHERE = {"inside_cidr", "inside_ipv6_cidr", "preshared_key", "log_options"}


def test_each_gateway_has_a_connection_of_two_tunnels_with_each_region_of_aws() -> None:
    fleet, plan = planned(attic=Site(gateways=["192.0.2.20", "192.0.2.21"], asn=65020))
    found = connections(fleet, plan)
    assert len({one.name for one in found}) == len(found) == 3 + 6
    west = [(one.number, one.address, one.asn) for one in found if (one.site, one.region) == ("attic", "us-west-2")]
    assert west == [(1, "192.0.2.20", 65020), (2, "192.0.2.21", 65020)]
    assert [[tunnel.number for tunnel in one.tunnels] for one in found if one.site == "attic"] == 3 * [[1, 2], [3, 4]]


def test_a_region_of_another_cloud_is_told_nothing_of_aws() -> None:
    fleet, plan = planned()
    azure = {"us-east-1": Region(cloud="azure", zones=["1"])}
    other = fleet.model_copy(update={"regions": {**fleet.regions, **azure}})
    assert {one.region for one in connections(other, plan)} == {"us-west-2", "eu-west-1"}


def test_nothing_of_either_tunnel_is_left_at_its_default() -> None:
    known = set(inspect.signature(aws.ec2.VpnConnectionArgs.__init__).parameters)
    for number in (1, 2):
        of_tunnel = {name.removeprefix(f"tunnel{number}_") for name in known if name.startswith(f"tunnel{number}_")}
        assert set(OPTIONS) == of_tunnel - ELSEWHERE
    one = connections(*planned())[0]
    told = options(tunnel.inside_cidr for tunnel in one.tunnels)
    assert set(told) < known
    assert {told["tunnel1_inside_cidr"], told["tunnel2_inside_cidr"]} == {end.inside_cidr for end in one.tunnels}
    assert not told["static_routes_only"], "BGP, or a dead tunnel is chosen by lot"


def test_the_site_makes_new_keys_before_aws_ends_the_old_ones() -> None:
    margin = OPTIONS["rekey_margin_time_seconds"]
    assert isinstance(margin, int)
    # AWS begins up to twice the margin early: the fuzz adds as much again.
    for ours, theirs in (
        (tunnel_settings.IKE_REKEY_SECONDS, tunnel_settings.IKE_SECONDS),
        (tunnel_settings.ESP_REKEY_SECONDS, tunnel_settings.ESP_SECONDS),
    ):
        assert ours < theirs - 2 * margin
    assert 60 <= margin <= tunnel_settings.ESP_SECONDS / 2
