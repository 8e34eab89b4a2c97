"""A site's gateway: its files are the golden ones, its keys are in one of them alone, and a pair shares no tunnel."""

from pathlib import Path

import pytest

from components.control_plane.units import SCRIPTS
from components.links.gateway import bgp, ipsec
from components.links.gateway.files import files
from policies import links as policies_of_links
from tests.support import golden

from .bed import PAIR, gateways

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
