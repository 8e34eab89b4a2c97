"""What Azure is told of tunnels: by its own rules, which its API and its gateways would refuse or forget otherwise."""

from ipaddress import IPv4Address, IPv4Network

import pytest
from pulumi_azure_native import network

from components.links import tunnel_settings
from components.links.aws.cross_cloud import cross_cloud_connections, tunnel_options
from components.links.azure import alarms
from components.links.azure.connections import DPD_SECONDS, inside_addresses, key_name, other_ends
from components.links.connections import connections
from components.links.plan import crossings, tunnels
from fleet import hubs
from fleet.address.reserved import AZURE_TUNNEL_ROOTS
from fleet.model import Site

from ..bed import AZURE, PAIR, planned

OTHER = "southcentralus"


def test_a_site_s_gateway_has_one_connection_with_both_instances() -> None:
    fleet, plan = planned(AZURE, attic=PAIR)
    ends = [end for end in other_ends(fleet, plan, AZURE) if end.site]
    assert [end.site.address for end in ends if end.site] == ["192.0.2.10", "192.0.2.20", "192.0.2.21"]
    for end in ends:
        assert end.site
        first, second = end.site.tunnels
        assert (first.instance, second.instance) == (0, 1)
        assert end.instances == (first.hub_address, second.hub_address)
        assert end.bgp_address == first.gateway_address, "the one address of which the gateway speaks"
        assert end.asn == fleet.sites[end.site.site].asn
    assert len({end.bgp_address for end in ends}) == len(ends), "Azure wants one for each device"


def test_a_site_has_the_first_address_of_a_tunnel_with_azure_and_azure_the_second() -> None:
    fleet, plan = planned(AZURE)
    mine = [one for one in tunnels(fleet, plan) if one.region == AZURE]
    assert len(mine) == 2
    for one in mine:
        network = IPv4Network(one.inside_cidr)
        assert (one.cloud, one.gateway_address, one.hub_address) == ("azure", str(network[1]), str(network[2]))
    west = next(one for one in tunnels(fleet, plan) if one.region == "us-west-2")
    assert (west.cloud, west.hub_address) == ("aws", str(IPv4Network(west.inside_cidr)[1]))


def test_aws_and_azure_have_four_tunnels_two_at_each_instance() -> None:
    fleet, plan = planned(AZURE, OTHER)
    assert {f"link/{one.name}": one.inside_cidr for one in crossings(fleet, plan)} == {
        name: cidr for name, cidr in plan.tunnels.items() if "lab" not in name
    }
    found = cross_cloud_connections(fleet, plan)
    assert len(found) == 3 * 2 * 2
    for one in found:
        assert len(one.tunnels) == 2
        assert {tunnel.instance for tunnel in one.tunnels} == {one.instance}
        told = tunnel_options(one)
        assert [told[f"tunnel{n}_inside_cidr"] for n in (1, 2)] == [tunnel.inside_cidr for tunnel in one.tunnels]
        assert (told["tunnel1_startup_action"], told["tunnel2_startup_action"]) == ("start", "start")
        assert told["tunnel1_phase1_dh_group_numbers"] == [tunnel_settings.IKE.dh_group]
    of_sites = connections(fleet, plan)
    assert len({one.name for one in (*found, *of_sites)}) == len(found) + len(of_sites)


def test_each_of_aws_s_ends_is_one_of_its_own_for_azure() -> None:
    fleet, plan = planned(AZURE)
    ends = [end for end in other_ends(fleet, plan, AZURE) if end.tunnel]
    assert len(ends) == len({end.name for end in ends}) == 12
    for end in ends:
        assert end.tunnel
        assert end.asn == hubs.asn(end.tunnel.aws)
        assert end.bgp_address == end.tunnel.aws_address
        assert end.instances[end.tunnel.instance] == end.tunnel.azure_address


def test_no_address_is_of_both_instances_and_all_are_of_azure_s_range() -> None:
    fleet, plan = planned(AZURE, attic=PAIR)
    first, second = inside_addresses(fleet, plan, AZURE)
    assert not set(first) & set(second)
    # Two of each region of AWS, one of each gateway of a site.
    assert len(first) == len(second) == 3 * 2 + 3
    for end in other_ends(fleet, plan, AZURE):
        assert end.instances[0] in first
        assert end.instances[1] in second
        for address in (*end.instances, end.bgp_address):
            assert any(IPv4Address(address) in IPv4Network(root) for root in AZURE_TUNNEL_ROOTS)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("ike_encryption", network.IkeEncryption),
        ("ike_integrity", network.IkeIntegrity),
        ("dh_group", network.DhGroup),
        ("ipsec_encryption", network.IpsecEncryption),
        ("ipsec_integrity", network.IpsecIntegrity),
        ("pfs_group", network.PfsGroup),
    ],
)
def test_the_policy_is_in_azure_s_words(field: str, words: type[network.DhGroup]) -> None:
    assert tunnel_settings.AZURE[field] in {word.value for word in words}


def test_the_policy_is_whole_and_gcm_stands_for_both() -> None:
    network.IpsecPolicyArgs(**tunnel_settings.AZURE)  # type: ignore[arg-type]
    assert tunnel_settings.AZURE["ipsec_encryption"] == tunnel_settings.AZURE["ipsec_integrity"] == "GCMAES256"
    assert tunnel_settings.IKE_REKEY_SECONDS < tunnel_settings.IKE_SECONDS == 28_800
    assert tunnel_settings.ESP_SECONDS < int(tunnel_settings.AZURE["sa_life_time_seconds"]) == 27_000
    assert 9 <= DPD_SECONDS <= 3600


def test_a_key_s_name_fits_a_vault() -> None:
    long = "a" * 32
    fleet, plan = planned(AZURE, **{long: Site(gateways=["192.0.2.40"], asn=65040)})
    for one in connections(fleet, plan, "azure"):
        name = key_name(long, one, "key")
        assert name.replace("-", "").isalnum()
        assert len(name) <= 127


def test_alarms_tell_one_instance_s_silence_from_that_of_both() -> None:
    one, both = alarms.ALARMS
    asked = [alarms.criteria(alarm, "169.254.21.1")["allOf"][0] for alarm in (one, both)]
    peer = {"name": "BgpPeerAddress", "operator": "Include", "values": ["169.254.21.1"]}
    assert asked[0]["dimensions"] == [peer, {"name": "Instance", "operator": "Include", "values": ["*"]}]
    assert asked[1]["dimensions"] == [peer], "an average over both, which is 0 where neither speaks"
    assert both.severity < one.severity, "Azure's worst is 0"
