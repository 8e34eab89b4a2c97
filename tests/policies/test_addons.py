"""A NetworkPolicy and what makes it hold: the example's own add-ons are sound, and each of these changes is not."""

import copy
from typing import Any

import pytest

from components.addons import addons
from components.addons.component import resource_name, token
from components.addons.spec import addons_spec
from fleet.world import World
from policies import pack

from .judging import UNKNOWN_TEXT, analyze, example, findings

Resource = dict[str, Any]
ENGINE = "DaemonSet/kube-system/kube-network-policies"


@pytest.fixture(scope="module")
def world() -> World:
    return example()


@pytest.fixture
def resources(world: World) -> dict[str, Resource]:
    """Every add-on of the example, by name."""
    made = addons.manifests(addons_spec(world.fleet, world.plan, "main"))
    return {
        resource_name(one): {
            "type": token(one),
            "name": resource_name(one),
            "protect": False,
            "props": copy.deepcopy(one),
        }
        for manifests in made.values()
        for one in manifests
    }


def told(resources: dict[str, Resource], world: World) -> list[str]:
    return [found.what for found in findings(list(resources.values()), world)]


def pod(resources: dict[str, Resource]) -> dict[str, Any]:
    made: dict[str, Any] = resources[ENGINE]["props"]["spec"]["template"]["spec"]
    return made


def test_the_example_s_add_ons_are_sound(resources: dict[str, Resource], world: World) -> None:
    assert "NetworkPolicy/team-research/no-instance-metadata" in resources
    assert told(resources, world) == []


def test_a_network_policy_without_an_engine_is_refused(resources: dict[str, Resource], world: World) -> None:
    del resources[ENGINE]
    assert told(resources, world) == ["the cluster has no engine for a NetworkPolicy: nothing enforces it"] * 3


def test_without_network_policies_no_engine_is_asked_for(resources: dict[str, Resource], world: World) -> None:
    left = {name: one for name, one in resources.items() if name != ENGINE and not name.startswith("NetworkPolicy/")}
    assert told(left, world) == []


def test_flannel_is_no_engine(resources: dict[str, Resource], world: World) -> None:
    resources[ENGINE]["props"]["metadata"]["labels"]["app.kubernetes.io/name"] = "flannel"
    assert len(told(resources, world)) == 3


@pytest.mark.parametrize(
    ("part", "value", "what"),
    [
        ("nodeSelector", {"landbridge.dev/kind": "cpu"}, "has the nodeSelector"),
        ("affinity", {"nodeAffinity": {}}, "has the affinity"),
        ("tolerations", [{"operator": "Exists", "key": "nvidia.com/gpu"}], "does not tolerate every taint"),
        ("tolerations", None, "does not tolerate every taint"),
        ("tolerations", UNKNOWN_TEXT, "undecidable"),
    ],
)
def test_an_engine_that_is_not_on_every_node_is_refused(
    part: str, value: Any, what: str, resources: dict[str, Resource], world: World
) -> None:
    pod(resources)[part] = value
    (said,) = told(resources, world)
    assert what in said


def test_an_engine_whose_name_is_not_known_is_undecidable(resources: dict[str, Resource], world: World) -> None:
    resources[ENGINE]["props"]["metadata"]["labels"]["app.kubernetes.io/name"] = UNKNOWN_TEXT
    (said,) = told(resources, world)
    assert "undecidable" in said


@pytest.mark.parametrize("engine", [True, False])
def test_before_the_cluster_is_there_what_the_program_sets_is_judged(
    engine: bool, resources: dict[str, Resource], world: World
) -> None:
    """Its provider is not asked then, and no resource has outputs."""
    if not engine:
        del resources[ENGINE]
    asked = [{**one, "props": {}, "given": one["props"]} for one in resources.values()]
    said = [one.message for one in analyze(asked, pack.policies(world)) if one.policyName not in pack.ADVICE]
    assert ["no engine" in one for one in said] == ([] if engine else [True] * 3)
