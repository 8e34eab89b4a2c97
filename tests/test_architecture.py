"""docs/architecture.md follows one value through the code: its functions exist, and its values are computed anew."""

import datetime
import importlib
import re
from pathlib import Path

import pytest

from components.links.gateway import bgp
from components.links.gateway.spec import gateway_specs
from components.links.plan import tunnels
from components.links.tunnel_settings import CLOUDS
from components.network.aws.spec import network_spec
from components.network.routes import fleet_routes
from fleet.address.plan import draft
from fleet.address.requests import requests
from fleet.loader import load_with_lines
from fleet.world import World, current
from stacks.catalogue import catalogue

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text()
FLEET = ROOT / "fleet.yaml"
REGION, SITE = "us-west-2", "lab"
NAMES = sorted(set(re.findall(r"`((?:fleet|components|stacks)(?:\.\w+){2,})(?<!yaml)`", PAGE)))


@pytest.fixture(scope="module")
def world() -> World:
    return current(FLEET)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_is_there(name: str) -> None:
    module, _, part = name.rpartition(".")
    assert hasattr(importlib.import_module(module), part)


def test_the_page_names_every_step() -> None:
    assert len(NAMES) >= 10


def test_the_file_and_the_ledger_hold_what_the_page_quotes(world: World) -> None:
    loaded = load_with_lines(FLEET)
    assert f"supernet: {loaded.fleet.supernet}\n" in PAGE
    assert f"line {loaded.lines.of(('supernet',))} of `fleet.yaml`" in PAGE
    (line,) = re.findall(rf"^  (region/{REGION}: .*)$", (ROOT / "fleet.lock.yaml").read_text(), re.MULTILINE)
    assert f"\n{line}\n" in PAGE
    assert f"the example fleet has {len(catalogue(world.fleet))}." in PAGE


def test_requests_and_plan_are_those_of_the_page(world: World) -> None:
    (wanted,) = [one for one in requests(world.fleet) if one.name == f"region/{REGION}"]
    assert f"\n{wanted}\n" in PAGE
    anew = draft(world.fleet, None, datetime.date(2026, 11, 21)).plan.region(REGION).block
    assert f"Planned from nothing the same fleet would give {REGION} the prefix {anew}" in PAGE
    planned = world.plan.region(REGION)
    for call, value in (
        (f'region("{REGION}").block', planned.block),
        (f'region("{REGION}").network', planned.network),
        (f'site("{SITE}").block', world.plan.site(SITE).block),
    ):
        assert re.search(rf"plan\.{re.escape(call)} +'{re.escape(value)}'", PAGE)


def test_network_and_links_are_those_of_the_page(world: World) -> None:
    spec = network_spec(world.fleet, world.plan, REGION)
    shown = f"NetworkSpec(region='{spec.region}', block='{spec.block}', cidr='{spec.cidr}', asn={spec.asn}, …)"
    assert shown in PAGE
    (route,) = [one for one in fleet_routes(REGION, world.plan.aggregates()) if one.name == f"site-{SITE}"]
    assert f"`{route.name}`, `{route.cidr}`, to the {route.target}" in PAGE
    (tunnel, _) = [one for one in tunnels(world.fleet, world.plan) if one.region == REGION]
    assert f"\n{tunnel}\n" in PAGE
    assert f"first address in it, {tunnel.hub_address}," in PAGE
    assert f"it allows {CLOUDS['aws'].most_prefixes} prefixes" in PAGE
    assert f"(`{CLOUDS['azure'].believed}`)" in PAGE


def test_the_router_is_that_of_the_page(world: World) -> None:
    outside = {one.name: "203.0.113.1" for one in tunnels(world.fleet, world.plan)}
    (gateway,) = gateway_specs(world.fleet, world.plan, SITE, outside)
    assert f"GatewaySpec(site='{SITE}', address='{gateway.address}', asn={gateway.asn}, block_cidr=" in PAGE
    (end, _) = [one for one in gateway.ends if one.region == REGION]
    assert f"End(tunnel=Tunnel(…), outside='{end.outside}', asn={end.asn}, region_cidr='{end.region_cidr}')" in PAGE
    written, shown = bgp.config(gateway).splitlines(), re.findall(r"^ *(?:ip|neighbor) .*$", PAGE, re.MULTILINE)
    assert len(shown) == 5
    assert [line for line in shown if line not in written] == []
