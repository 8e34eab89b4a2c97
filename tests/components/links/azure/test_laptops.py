"""Servers for laptops in Azure: their files and what Azure is told of them are golden, and laptops come in their name."""

import datetime
import json
import re
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from components.addons.azure import joining_role
from components.addons.spec import addons_spec
from components.control_plane.machines import where_people_are
from components.control_plane.units import SCRIPTS
from components.links.laptops import firewall, ports, server
from components.links.laptops.azure.roles import bundle_grant, key_grant
from components.links.laptops.azure.server import called
from components.links.laptops.machine import bundle
from components.links.laptops.spec import LaptopsSpec
from components.links.trace import Paths
from components.network.azure.spec import network_spec
from components.pools import joining
from components.pools.azure.firewall import ruled
from components.pools.firewall import Rule
from components.pools.names import AZURE_SET
from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World
from tests.components.network.test_specs import data
from tests.components.pools import joining_bed  # noqa: F401  (scripts of API machines lie beside each other then)
from tests.support import golden

from ..laptops_bed import authority, material, spec_of

import join_rules  # isort: skip

ROOT = Path(__file__).parents[4]
GOLDEN = Path(__file__).parent / "golden/laptops"
REGION, ELSEWHERE = "southcentralus", "westeurope"


@pytest.fixture(scope="module")
def world() -> World:
    path = ROOT / "tests/fleet/good/azure.yaml"
    fleet = load(path)
    return World(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan, path)


@pytest.fixture(scope="module")
def spec(world: World) -> LaptopsSpec:
    return spec_of(world, REGION)


@pytest.mark.golden
def test_the_files_of_a_server(spec: LaptopsSpec) -> None:
    one = spec.servers[0]
    made = bundle(spec, one, material(authority(), one)).files
    # Scripts lie in the repository already, certificates are others each time.
    texts = {p: text for p, text in made.items() if not p.startswith(SCRIPTS) and not p.endswith(".crt")}
    folder = GOLDEN / one.name
    for path, text in texts.items():
        (folder / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        golden.same(folder / path.lstrip("/"), text)
    assert {f"/{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()} == set(texts)


@pytest.mark.golden
def test_what_the_cloud_is_told(world: World, spec: LaptopsSpec) -> None:
    one = spec.servers[0]
    told = {
        "spec": data(spec),
        "grants": data((bundle_grant(world.fleet, spec, one), key_grant(world.fleet, spec, one, "NAME"))),
        "rules": data(ruled([Rule(*rule) for rule in ports.rules(spec, world.plan.supernet)])),
    }
    golden.compare(GOLDEN / "cloud.yaml", told)


def test_all_that_laptops_send_goes_in_the_server_s_name(spec: LaptopsSpec) -> None:
    for one in spec.servers:
        text = firewall.config(spec, one)
        assert f'oifname != "laptops" ip saddr {one.pool_cidr} masquerade' in text
        first = IPv4Network(one.pool_cidr)[1]
        assert f'push "dhcp-option DNS {first}"' in server.config(spec, one)
        assert f"ip daddr {first} meta l4proto {{ tcp, udp }} th dport 53 dnat ip to 168.63.129.16" in text
        # What the platform's address knows of machines is none of a laptop's business.
        assert re.findall(r"168\.63\.129\.16.*dport (\d+)", text) == ["53"]
        assert "169.254.169.254" not in text


def test_its_public_subnet_lets_laptops_in_and_no_other_region_s_does(world: World) -> None:
    def opened(region: str) -> list[tuple[str, str, str]]:
        rules = network_spec(world.fleet, world.plan, region).groups["public"]
        return [(one.protocol, one.source, one.ports) for one in rules if one.source == "Internet"]

    assert opened(REGION) == [("Udp", "Internet", "1194")]
    assert opened(ELSEWHERE) == []


def test_people_come_from_their_servers_subnets(world: World, spec: LaptopsSpec) -> None:
    zones = world.plan.region(REGION).zones
    known = {cidr for name, cidr in where_people_are(world.fleet, world.plan) if name.startswith("laptops-")}
    assert known == {zones[one.zone].public for one in spec.servers}
    one_zone = world.fleet.regions[REGION].model_copy(update={"zones": ["1"]})
    fleet = world.fleet.model_copy(update={"regions": {**world.fleet.regions, REGION: one_zone}})
    names = [name for name, _ in where_people_are(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan)]
    assert names == [f"laptops-{REGION}-1", "site-attic"], "one subnet, one rule"


def test_a_laptop_reaches_places_by_its_server_and_nobody_begins(world: World, spec: LaptopsSpec) -> None:
    paths = Paths(world.fleet, world.plan)
    laptop = paths.place(str(IPv4Network(spec.servers[0].pool_cidr)[5]))
    for place in (REGION, ELSEWHERE, "attic"):
        there, back = paths.way(laptop, paths.place(place)), paths.way(paths.place(place), laptop)
        assert there.arrives, there.hops
        assert not back.arrives
    assert back.hops[-1].why.startswith("lets nobody begin") or "no route" in back.hops[-1].why
    other = paths.place(str(IPv4Network(spec.servers[1].pool_cidr)[5]))
    assert "none reaches another one" in paths.way(laptop, other).hops[-1].why


def test_a_server_joins_by_itself_and_its_successor_has_another_name(world: World) -> None:
    known = addons_spec(world.fleet, world.plan, "main").joining
    one = next(one for one in known if one.name == f"{REGION}-vpn-1")
    assert (one.cloud, one.alone, one.role) == ("azure", True, "")
    (group,) = one.groups
    assert len(group) <= AZURE_SET
    told: dict[str, Any] = json.loads(json.dumps(joining.table(known, joining.azure(world.fleet, known))))
    assert told["azure"]["alone"] == [f"azure-alone-{REGION}-laptops-vpn-{n}" for n in (1, 2)]
    first, second = called(group, 1_800_000_000.0), called(group, 1_800_000_001.9)
    assert first != second
    assert len(first) <= 64
    assert {join_rules.of_set(name, join_rules.pools_of(told)) for name in (first, second)} == {one.name}


def test_who_lets_machines_join_may_look_at_servers_where_there_are_some(world: World) -> None:
    assert set(joining_role.ALONE) <= set(joining_role.actions(world.fleet, "main"))
    regions = {name: one.model_copy(update={"laptops": False}) for name, one in world.fleet.regions.items()}
    without = world.fleet.model_copy(update={"regions": regions})
    assert joining_role.actions(without, "main") == joining_role.ACTIONS


def test_no_private_key_is_among_the_files(spec: LaptopsSpec) -> None:
    one = spec.servers[0]
    given = material(authority(), one)
    found = bundle(spec, one, given)
    whole = "".join(found.files.values())
    assert not [key for key in (given.key, given.wrapping) if key.splitlines()[1] in whole]
    assert json.loads(found.files["/etc/landbridge/cloud.json"]) == {"cloud": "azure"}
    assert f"{SCRIPTS}/api_azure.py" in found.files
    assert f"{SCRIPTS}/api_aws.py" not in found.files
