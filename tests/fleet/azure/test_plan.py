"""The address plan of Azure's regions: two subnets that AWS has not, and nothing moves for them."""

import datetime
from pathlib import Path

from fleet.address import ledger as ledgers
from fleet.address.blocks import parse
from fleet.address.plan import RegionPlan, draft
from fleet.loader import load
from fleet.model import Fleet, Region
from tests.components.links.bed import in_aws

HERE = Path(__file__).parents[1]
ROOT = HERE.parents[1]
DAY = datetime.date(2026, 1, 1)
AZURE = load(HERE / "good/azure.yaml")


def region(fleet: Fleet, name: str) -> RegionPlan:
    made = draft(fleet, None, DAY)
    assert made.refusals == ()
    return made.plan.region(name)


def test_a_vnet_has_room_for_its_gateway_and_for_those_who_ask_for_names() -> None:
    found = region(AZURE, "southcentralus")
    assert found.gateway
    assert found.names
    assert (parse(found.gateway).length, parse(found.names).length) == (26, 28)
    assert list(found.zones) == ["1", "2", "3"], "neither is a zone"
    inside = [found.gateway, found.names, *(c for zone in found.zones.values() for c in (zone.private, zone.public))]
    assert all(parse(found.network).holds(parse(cidr)) for cidr in inside)
    assert not any(parse(one).overlaps(parse(other)) for one in inside for other in inside if one != other)
    small = region(AZURE, "westeurope")
    assert small.gateway
    assert parse(small.gateway).length == 27, "Azure's least"


def test_nobody_asks_for_names_where_there_is_no_site() -> None:
    alone = region(AZURE.model_copy(update={"sites": {}}), "southcentralus")
    assert alone.gateway
    assert alone.names is None


def test_single_addresses_of_resolvers_are_aws_s_alone() -> None:
    assert not [name for name in draft(AZURE, None, DAY).plan.blocks if "/resolver/" in name]


def test_the_example_s_ledger_stays_to_the_letter() -> None:
    fleet, path = load(ROOT / "fleet.yaml"), ROOT / "fleet.lock.yaml"
    made = draft(fleet, ledgers.load(path), DAY)
    assert made.changes == ()
    assert ledgers.render(made.ledger) == path.read_text()
    west = made.plan.region("us-west-2")
    assert (west.gateway, west.names) == (None, None)


def beside() -> Fleet:
    """The example with a region of Azure beside its own."""
    fleet = load(ROOT / "fleet.yaml")
    regions = {**fleet.regions, "westeurope": Region(cloud="azure", zones=["1", "2"])}
    return fleet.model_copy(update={"azure": AZURE.azure, "regions": regions})


def test_an_azure_region_beside_moves_nothing() -> None:
    old = ledgers.load(ROOT / "fleet.lock.yaml")
    made = draft(beside(), old, DAY)
    assert {change.kind for change in made.changes} == {"new"}
    assert {name: made.ledger.live[name] for name in old.live} == dict(old.live)


def test_in_two_clouds_each_region_has_a_place_to_ask_the_other_from() -> None:
    made = draft(beside(), ledgers.load(ROOT / "fleet.lock.yaml"), DAY).plan
    azure = made.region("westeurope")
    assert azure.questions
    assert azure.names
    assert not parse(azure.questions).overlaps(parse(azure.names)), "a resolver's two ends take a subnet each"
    west = made.region("us-west-2")
    asking = [zone for zone, plan in west.zones.items() for what in plan.addresses if what.startswith("asking/")]
    assert sorted(asking) == ["a", "b"], "two zones outlive one"
    alone = beside().model_copy(update={"sites": {}})
    assert draft(alone, None, DAY).plan.region("westeurope").names, "the other cloud asks where no site does"
    for fleet in (in_aws(load(ROOT / "fleet.yaml")), AZURE):
        assert not [name for name in draft(fleet, None, DAY).plan.blocks if "/asking/" in name or "/questions" in name]


def test_a_ledger_from_before_these_subnets_gets_them_and_keeps_its_own() -> None:
    whole = draft(AZURE, None, DAY).ledger
    before = {name: entry for name, entry in whole.live.items() if name.rpartition("/")[2] not in ("gateway", "names")}
    old = ledgers.Ledger(whole.supernet, ledgers.MappingProxyType(before))
    made = draft(AZURE, old, DAY)
    assert {name for _, name, _ in made.changes} == {
        f"region/{name}/{what}" for name in AZURE.regions for what in ("gateway", "names")
    }
    assert {name: made.ledger.live[name] for name in before} == before
    assert made.refusals == ()
