"""Specs of the example fleet and of small variants, against golden files: plain data, no engine."""

import datetime
from pathlib import Path
from typing import Any

import pytest

from components.network import routes
from components.network.aws.spec import network_spec
from components.storage.aws.bucket import bucket_policy, key_policy, lifecycle
from components.storage.shares import arn_prefix, shares_policy, shares_spec
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Fleet, Ingress
from fleet.world import World, current
from tests.support import golden

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
VARIANTS = HERE.parent / "variants"
DAY = datetime.date(2026, 1, 1)


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def data(value: Any) -> Any:
    """Named tuples as mappings, for golden files that a person can read."""
    if hasattr(value, "_asdict"):
        return {key: data(item) for key, item in value._asdict().items()}
    return [data(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.golden
@pytest.mark.parametrize("region", ["us-west-2", "us-east-1", "eu-west-1"])
def test_a_region_s_network(world: World, region: str) -> None:
    golden.compare(HERE / f"golden/network.{region}.yaml", data(network_spec(world.fleet, world.plan, region)))


@pytest.mark.golden
@pytest.mark.parametrize("path", sorted(VARIANTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_region_s_network_in_other_fleets(path: Path) -> None:
    fleet = load(path)
    made = draft(fleet, None, DAY)
    assert not made.refusals
    golden.compare(HERE / f"golden/variant.{path.stem}.yaml", data(network_spec(fleet, made.plan, "us-west-2")))


@pytest.mark.golden
def test_a_region_s_storage(world: World) -> None:
    value = {
        "bucket": bucket_policy(world.fleet, "us-west-2"),
        "key": key_policy(world.fleet, "us-west-2"),
        "lifecycle": lifecycle(world.fleet),
        "shares": data(shares_spec(world.fleet)),
        "shares policy": shares_policy(arn_prefix(world.fleet, "us-west-2") + "fs-example"),
    }
    golden.compare(HERE / "golden/storage.us-west-2.yaml", value)


def varied(world: World, region: str, **changes: Any) -> Fleet:
    changed = world.fleet.regions[region].model_copy(update=changes)
    return world.fleet.model_copy(update={"regions": {**world.fleet.regions, region: changed}})


def test_nat_per_zone_gives_every_zone_its_own_way_out(world: World) -> None:
    fleet = varied(world, "us-west-2", nat="per-zone")
    spec = network_spec(fleet, world.plan, "us-west-2")
    assert [subnet.zone for subnet in spec.subnets if subnet.nat] == ["a", "b", "c"]
    assert {table.name: table.nat_zone for table in spec.route_tables} == {
        "public": None,
        "private-a": "a",
        "private-b": "b",
        "private-c": "c",
    }


def test_one_nat_stays_where_it_is_when_zones_are_added_and_reordered(world: World) -> None:
    small = varied(world, "us-west-2", zones=["b"])
    grown = varied(world, "us-west-2", zones=["c", "a", "b"])
    first = draft(small, None, DAY)
    second = draft(grown, first.ledger, DAY + datetime.timedelta(days=1))
    spec = network_spec(grown, second.plan, "us-west-2")
    assert [subnet.name for subnet in spec.subnets if subnet.nat] == ["public-b"]
    assert [subnet.zone for subnet in spec.subnets] == ["a", "a", "b", "b", "c", "c"]
    assert spec == network_spec(varied(world, "us-west-2", zones=["b", "c", "a"]), second.plan, "us-west-2")


def test_a_new_region_adds_routes_and_changes_none(world: World) -> None:
    grown = varied(world, "us-west-2")
    grown = grown.model_copy(update={"regions": {**grown.regions, "us-east-2": grown.regions["us-east-1"]}})
    before = routes.fleet_routes("us-west-2", world.plan.aggregates())
    old = draft(world.fleet, None, DAY).ledger
    after = routes.fleet_routes("us-west-2", draft(grown, old, DAY).plan.aggregates())
    names = {route.name for route in after} - {route.name for route in before}
    assert names == {"region-us-east-2"}


def test_a_new_cluster_changes_nothing_in_a_region(world: World) -> None:
    grown = world.fleet.model_copy(
        update={"clusters": {**world.fleet.clusters, "second": world.fleet.clusters["main"]}}
    )
    after = draft(grown, draft(world.fleet, None, DAY).ledger, DAY + datetime.timedelta(days=1)).plan
    before = draft(world.fleet, None, DAY).plan
    assert "cluster/second" in after.aggregates()
    for region in world.fleet.regions:
        assert network_spec(grown, after, region) == network_spec(world.fleet, before, region)
        assert lifecycle(grown) == lifecycle(world.fleet)
        assert bucket_policy(grown, region) == bucket_policy(world.fleet, region)
        for table in network_spec(grown, after, region).route_tables:
            assert not [route for route in table.routes if route.name.startswith("cluster-")]


def test_the_fleet_file_names_a_region_s_route_tables(world: World) -> None:
    for nat in ("one", "per-zone"):
        fleet = varied(world, "us-west-2", nat=nat)
        spec = network_spec(fleet, world.plan, "us-west-2")
        names = [table.name for table in spec.route_tables]
        assert list(routes.table_names(fleet.regions["us-west-2"])) == names


def test_the_world_gets_in_only_where_the_fleet_says_so(world: World) -> None:
    assert all(group.name != "world" for group in network_spec(world.fleet, world.plan, "us-west-2").groups)
    rule = Ingress(port=1194, protocol="udp", cidr="0.0.0.0/0", why="laptops")
    opened = world.fleet.model_copy(update={"ingress": [rule]})
    group = next(g for g in network_spec(opened, world.plan, "us-west-2").groups if g.name == "world")
    assert [(r.protocol, r.port, r.cidr) for r in group.rules] == [("udp", 1194, "0.0.0.0/0")]


def test_no_rule_is_wider_than_the_plan(world: World) -> None:
    known = set(world.plan.aggregates().values()) | {world.plan.region("us-west-2").network}
    for group in network_spec(world.fleet, world.plan, "us-west-2").groups:
        assert {rule.cidr for rule in group.rules} <= known
