"""A site's gateway: its files are the golden ones, its keys are in one of them alone, and a pair shares no tunnel."""

from pathlib import Path

import pytest

from components.control_plane.units import SCRIPTS
from components.links.gateway import bgp, ipsec
from components.links.gateway.files import files
from policies.aws import links as policies_of_links
from tests.support import golden

from .bed import AZURE, PAIR, gateways

TOLD = (bgp.OWN, bgp.DRAWING)
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.golden
def test_the_files_of_the_example_s_gateway() -> None:
    (spec,) = gateways()
    # Scripts lie in the repository already.
    made = {path: text for path, text in files(spec).items() if not path.startswith(SCRIPTS)}
    for path, text in made.items():
        (GOLDEN / spec.site / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        golden.same(GOLDEN / spec.site / path.lstrip("/"), text)
    kept = {f"/{path.relative_to(GOLDEN / spec.site)}" for path in (GOLDEN / spec.site).rglob("*") if path.is_file()}
    assert kept == set(made)


# Of a gateway with both clouds: what Azure's rules change.
OF_BOTH = (
    "/etc/frr/frr.conf",
    "/etc/landbridge/gateway.json",
    "/etc/nftables.d/landbridge.nft",
    "/etc/swanctl/conf.d/westeurope-1.conf",
)


@pytest.mark.golden
def test_the_files_of_a_gateway_with_both_clouds() -> None:
    (spec,) = gateways("lab", AZURE)
    made = files(spec)
    for path in OF_BOTH:
        (GOLDEN / "both" / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        golden.same(GOLDEN / "both" / path.lstrip("/"), made[path])


def test_what_is_told_of_aws_is_the_same_with_azure_beside_it() -> None:
    (alone,), (both,) = gateways("lab"), gateways("lab", AZURE)
    # Its hubs' addresses are by tunnels, and the plan's are where they were.
    assert [end for end in both.ends if end.tunnel.cloud == "aws"] == list(alone.ends)
    of_aws = {path: text for path, text in files(alone).items() if "swanctl" in path or "systemd/network" in path}
    assert {path: text.split("\n", 1)[1] for path, text in of_aws.items()} == {
        path: text.split("\n", 1)[1] for path, text in files(both).items() if path in of_aws
    }
    there = bgp.config(both).splitlines()
    neighbours = [line for line in bgp.config(alone).splitlines() if "neighbor" in line]
    assert neighbours == [line for line in there if line in neighbours]


def test_azure_is_spoken_to_first_from_one_address_with_its_own_timers() -> None:
    for spec in gateways("attic", AZURE, attic=PAIR):
        lines = [line.strip() for line in bgp.config(spec).splitlines()]
        first, second = spec.azure
        assert first.tunnel.number < second.tunnel.number
        for end in spec.azure:
            assert f"neighbor {end.there} update-source {first.tunnel.gateway_address}" in lines
            assert f"neighbor {end.there} timers 60 180" in lines
            assert f"neighbor {end.there} route-map {bgp.NOT_ON} out" in lines
        assert not [line for line in lines if "passive" in line]
        assert len([line for line in lines if "update-source" in line or "timers 60" in line]) == 4


def test_azure_tells_no_hub_of_aws_anything_of_a_site() -> None:
    """Its gateways pass on what they hear; a hub believes no path that has its own number in it."""
    (spec,) = gateways("lab", AZURE)
    (line,) = (line for line in bgp.config(spec).splitlines() if "as-path prepend" in line)
    hubs = {end.asn for end in spec.ends if end.tunnel.cloud == "aws"}
    assert set(map(int, line.split()[3:])) == {*hubs, spec.asn}
    assert len(hubs) == 3


def test_of_azure_prefixes_inside_the_region_s_block_are_believed() -> None:
    (spec,) = gateways("lab", AZURE)
    (end, _) = spec.azure
    assert f"ip prefix-list {AZURE} seq 10 permit {end.region_cidr} le 29" in bgp.config(spec).splitlines()


def test_keys_lie_in_one_file_and_each_names_both_ends() -> None:
    (spec,) = gateways()
    keys = {end.tunnel.name: f"key-of-{end.name}" for end in spec.ends}
    ((path, text),) = ipsec.secrets(spec, keys).items()
    assert path not in files(spec)
    for end in spec.ends:
        part = text.partition(f"ike-{end.name} {{")[2].partition("}")[0]
        assert f'secret = "key-of-{end.name}"' in part
        assert f"id-there = {end.outside}" in part
        assert "key-of" not in files(spec)[f"{ipsec.FOLDER}/{end.name}.conf"]
    with pytest.raises(KeyError, match=r"lab/us-west-2/1"):
        ipsec.secrets(spec, {})


def test_each_of_a_pair_has_tunnels_of_its_own_and_tells_the_same() -> None:
    one, other = gateways("attic", attic=PAIR)
    assert [end.tunnel.number for end in one.ends] == [1, 2] * 3
    assert [end.tunnel.number for end in other.ends] == [3, 4] * 3
    assert not {end.tunnel.gateway_address for end in one.ends} & {end.tunnel.gateway_address for end in other.ends}
    told = {line for line in bgp.config(one).splitlines() if "network" in line or bgp.OWN in line.split(" seq")[0]}
    assert told
    assert {line for line in told if "neighbor" not in line} <= set(bgp.config(other).splitlines())


def test_interfaces_differ_in_the_whole_fleet_and_fit_linux() -> None:
    ends = [end for site in ("lab", "attic") for spec in gateways(site, attic=PAIR) for end in spec.ends]
    assert len({end.device for end in ends}) == len(ends)
    assert all(0 < end.key < 2**14 and len(end.device) <= 15 for end in ends)


def test_of_a_region_its_own_block_is_believed_and_nothing_else() -> None:
    (spec,) = gateways()
    lines = bgp.config(spec).splitlines()
    believed = [line for line in lines if line.startswith("ip prefix-list") and line.split()[2] not in TOLD]
    assert believed == [
        f"ip prefix-list {region} seq 10 permit {cidr}"
        for region, cidr in sorted({(end.region, end.region_cidr) for end in spec.ends})
    ]
    for end in spec.ends:
        assert f"  neighbor {end.there} prefix-list {end.region} in" in lines
        assert f"  neighbor {end.there} prefix-list {bgp.OWN} out" in lines


def test_the_policies_know_how_much_a_gateway_hears() -> None:
    assert policies_of_links.MOST_PREFIXES == bgp.MOST_PREFIXES
