"""What the pack's configuration allows, judged with and without one; and that the pack says its version."""

import tomllib
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer
from ruamel.yaml import YAML

from fleet.world import World
from policies import limits, pack
from policies.reading import UNKNOWN, Item

from .judging import HERE, azure, example

ROOT = HERE.parents[1]
GROUP, SCALE_SET = limits.GROUP, limits.SCALE_SET
TAGGED = [{"key": "landbridge:pool", "value": "west-gpu"}]  # of at most 40 machines


@pytest.fixture(scope="module")
def world() -> World:
    return example()


def said(world: World, config: dict[str, Any], type_: str, props: dict[str, Any], stack: str = "other") -> list[str]:
    item = Item(type_, "n", f"urn:pulumi:{stack}::p::{type_}::n", props, False, None)
    return [f"{one.path}: {one.what}" for one in limits.findings([item], world, config)]


VPC, NETWORK = "aws:ec2/vpc:Vpc", "azure-native:network:VirtualNetwork"


@pytest.mark.parametrize(
    ("type_", "props", "stack", "where"),
    [
        (VPC, {"region": "us-west-2"}, "other", "us-west-2"),
        (VPC, {"region": UNKNOWN}, "us-west-2", "us-west-2"),
        (VPC, {}, "main", "us-west-2"),
        (VPC, {}, "east-gpu", "us-east-1"),
        (NETWORK, {"location": "southcentralus"}, "other", "southcentralus"),
    ],
)
def test_a_region_is_allowed_or_not(world: World, type_: str, props: Any, stack: str, where: str) -> None:
    (refused,) = said(world, {"regions": ["eu-west-1"]}, type_, props, stack)
    assert refused == f"regions: it stands in {where}, and the configuration of limits allows eu-west-1"
    assert said(world, {"regions": ["eu-west-1", where]}, type_, props, stack) == []
    assert said(world, {}, type_, props, stack) == []


def test_what_stands_in_no_region_is_allowed_everywhere(world: World) -> None:
    assert said(world, {"regions": []}, "azure-native:privatedns:PrivateZone", {"location": "global"}) == []
    assert said(world, {"regions": []}, "random:index/randomPassword:RandomPassword", {}, "links") == []


@pytest.mark.parametrize(
    ("props", "asked"),
    [({"maxSize": 3}, 3), ({"maxSize": 1, "tags": TAGGED}, 40)],
    ids=["a group of no pool", "a pool, by the fleet file"],
)
def test_a_pool_has_no_more_machines_than_allowed(world: World, props: dict[str, Any], asked: int) -> None:
    (refused,) = said(world, {"max_machines": asked - 1}, GROUP, props)
    assert f"may have {asked} machines, and the configuration of limits allows {asked - 1}" in refused
    assert said(world, {"max_machines": asked}, GROUP, props) == []


def test_a_scale_set_may_grow_to_what_the_fleet_file_says() -> None:
    world, props = azure(), {"tags": {"landbridge:pool": "spot"}, "sku": {"capacity": 0}}
    most = world.fleet.pools["spot"].max
    assert len(said(world, {"max_machines": most - 1}, SCALE_SET, props)) == 1
    assert said(world, {"max_machines": most}, SCALE_SET, props) == []


@pytest.mark.parametrize("props", [{"maxSize": UNKNOWN}, {"tags": UNKNOWN, "maxSize": 1}])
def test_a_number_that_is_not_known_is_undecidable(world: World, props: dict[str, Any]) -> None:
    (refused,) = said(world, {"max_machines": 5}, GROUP, props)
    assert "undecidable" in refused


def test_a_setting_that_is_spelled_wrong_is_told(world: World) -> None:
    (refused,) = said(world, {"max_machine": 5}, GROUP, {"maxSize": 9})
    assert "sets max_machine, which is no setting of it" in refused


def test_the_engine_is_told_the_schema(world: World) -> None:
    servicer = _PolicyAnalyzerServicer("landbridge", "0", pack.policies(world), EnforcementLevel.MANDATORY, None)
    told = {one.name: one.configSchema.properties for one in servicer.GetAnalyzerInfo(None, None).policies}
    assert {name: sorted(settings) for name, settings in told.items() if settings} == {"limits": sorted(limits.SCHEMA)}


def test_the_pack_has_the_version_of_the_package() -> None:
    told = YAML(typ="safe").load((ROOT / "policies/PulumiPolicy.yaml").read_text())
    assert told["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
