"""Specs of a region of Azure: plain data, no engine."""

import datetime
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from components.network.azure import groups as azure_groups
from components.network.azure.spec import NetworkSpec, network_spec
from components.storage.azure.spec import lifecycle
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Fleet, Site
from tests.components.network.test_specs import VARIANTS, data
from tests.support import golden

DAY = datetime.date(2026, 1, 1)
PATH = VARIANTS / "azure-beside.yaml"
HERE = Path(__file__).parent


def spec_of(fleet: Fleet, region: str = "southcentralus") -> NetworkSpec:
    made = draft(fleet, None, DAY)
    assert not made.refusals
    return network_spec(fleet, made.plan, region)


@pytest.fixture(scope="module")
def spec() -> NetworkSpec:
    return spec_of(load(PATH))


@pytest.mark.golden
def test_a_region_s_network_and_storage(spec: NetworkSpec) -> None:
    value = {"network": data(spec._replace(groups=None)), "lifecycle": lifecycle(load(PATH))}  # type: ignore[arg-type]
    value["groups"] = {name: data(rules) for name, rules in spec.groups.items()}
    golden.compare(HERE / "golden/southcentralus.yaml", value)


def test_subnets_share_no_address_and_lie_in_the_network(spec: NetworkSpec) -> None:
    found = [IPv4Network(subnet.cidr) for subnet in spec.subnets]
    assert all(one.subnet_of(IPv4Network(spec.cidr)) for one in found)
    assert not [(a, b) for a in found for b in found if a is not b and a.overlaps(b)]
    assert len({subnet.name for subnet in spec.subnets}) == len(found)


def test_planned_addresses_are_where_nothing_is_assigned_by_itself(spec: NetworkSpec) -> None:
    fixed = next(IPv4Network(subnet.cidr) for subnet in spec.subnets if subnet.name == f"fixed-{spec.shares_zone}")
    assert IPv4Network(f"{spec.shares_address}/32").subnet_of(fixed)
    machines = [IPv4Network(subnet.cidr) for subnet in spec.subnets if subnet.name.startswith("private-")]
    assert not [one for one in machines if one.overlaps(fixed)]


def test_every_group_ends_closed_and_no_priority_stands_twice(spec: NetworkSpec) -> None:
    assert {subnet.group for subnet in spec.subnets if subnet.group} == spec.groups.keys()
    for rules in spec.groups.values():
        priorities = [rule.priority for rule in rules]
        assert priorities == sorted(set(priorities))
        assert priorities[0] >= azure_groups.FIRST
        assert (rules[-1].access, rules[-1].source, rules[-1].priority) == ("Deny", "*", azure_groups.REST)
        assert len({rule.name for rule in rules}) == len(rules)


def test_only_the_matrix_comes_to_the_shares(spec: NetworkSpec) -> None:
    shares = [rule for rule in spec.groups["fixed"] if rule.to == f"{spec.shares_address}/32"]
    assert {rule.ports for rule in shares if rule.access == "Allow"} == {"2049"}
    assert shares[-1].access == "Deny"
    machines = next(rule for rule in spec.groups["fixed"] if rule.name == "fleet")
    assert shares[-1].priority < machines.priority


def test_a_place_that_is_pinned_outside_the_supernet_reaches_machines_too() -> None:
    fleet = load(PATH)
    site = Site(gateways=["192.0.2.40"], asn=65040, cidr="192.168.64.0/20")
    groups = spec_of(fleet.model_copy(update={"sites": {"lab": site}})).groups
    for name in ("private", "fixed", "public"):
        to_machines = {rule.source for rule in groups[name] if rule.access == "Allow" and rule.to == "*"}
        assert {fleet.supernet, "192.168.64.0/20"} <= to_machines


def test_a_second_zone_moves_nothing(spec: NetworkSpec) -> None:
    fleet = load(PATH)
    region = fleet.regions["southcentralus"]
    one = fleet.model_copy(
        update={"regions": {**fleet.regions, "southcentralus": region.model_copy(update={"zones": ["2"]})}}
    )
    two = fleet.model_copy(
        update={"regions": {**fleet.regions, "southcentralus": region.model_copy(update={"zones": ["1", "2"]})}}
    )
    first = draft(one, None, DAY)
    before = network_spec(one, first.plan, "southcentralus")
    after = network_spec(two, draft(two, first.ledger, DAY).plan, "southcentralus")
    assert set(before.subnets) <= set(after.subnets)
    assert (after.shares_zone, after.nat_zones) == ("2", ("2",))
