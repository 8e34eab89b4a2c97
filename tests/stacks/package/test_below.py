"""What a builder of a stack asks of the engine inside a component, and what it reads in place of other stacks."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest
from pulumi.output import Unknown
from pulumi.runtime.proto import resource_pb2

from fleet.world import current
from stacks import handed, outputs
from stacks.package import component
from stacks.package.below import Below
from stacks.package.values import known_part
from tests.support.cloud import ROOT

COMPONENT = "urn:pulumi:dev::own::landbridge:index:Pool::cpu"
NETWORK = "urn:pulumi:dev::own::aws:ec2/vpc:Vpc::here-network"


@pytest.fixture
def engine() -> Any:
    """One that answers with what it was asked."""
    echo = lambda request: request  # noqa: E731
    return SimpleNamespace(RegisterResource=echo, ReadResource=echo, Invoke=echo)


def test_what_has_no_parent_is_the_component_s(engine: Any) -> None:
    asked = resource_pb2.RegisterResourceRequest(type="landbridge:pools:Pool", name="pool", dependencies=["a"])
    seen = Below(engine, "cpu", COMPONENT, [NETWORK, "a"]).RegisterResource(asked)
    assert (seen.name, seen.parent) == ("cpu-pool", COMPONENT)
    assert list(seen.dependencies) == ["a", NETWORK], "networks go after what stands in them, and none is told twice"


def test_what_has_a_parent_keeps_it_and_is_named_like_the_component(engine: Any) -> None:
    asked = resource_pb2.RegisterResourceRequest(name="firewall", parent=f"{COMPONENT}-pool")
    seen = Below(engine, "cpu", COMPONENT, []).RegisterResource(asked)
    assert (seen.name, seen.parent) == ("cpu-firewall", f"{COMPONENT}-pool")


def test_references_are_its_own_and_look_ups_go_as_they_are(engine: Any) -> None:
    below = Below(engine, "cpu", COMPONENT, [])
    seen = below.ReadResource(resource_pb2.ReadResourceRequest(type="pulumi:pulumi:StackReference", name="o/p/s"))
    assert (seen.name, seen.parent) == ("cpu-o/p/s", COMPONENT)
    assert below.Invoke("as it is") == "as it is"


def test_what_a_preview_does_not_know_is_left_out() -> None:
    told = {"cloud": "aws", "hub_id": Unknown(), "zones": {"a": "subnet-1", "b": Unknown()}, "addresses": [Unknown()]}
    assert known_part(told) == {"cloud": "aws", "zones": {"a": "subnet-1"}}
    assert known_part(Unknown()) is None
    assert known_part({"admin": False, "sizes": [0, ""]}) == {"admin": False, "sizes": [0, ""]}


def test_outputs_that_were_handed_over_need_no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {**dict.fromkeys(outputs.RegionOutputs.__annotations__, "-"), "network_id": "vpc-1"}
    monkeypatch.setattr(outputs.pulumi, "StackReference", lambda place: pytest.fail(f"read {place}"))

    async def read() -> Any:
        handed.here.set(handed.Handed({"us-west-2": told}, "second"))
        return await outputs.region_outputs("us-west-2")

    assert asyncio.run(read()) == told


def test_what_it_last_was_is_what_the_program_exported_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Reference:
        def __init__(self, place: str) -> None:
            read.append(place)

        async def get_output_details(self, name: str) -> Any:
            return SimpleNamespace(value={"second": {"kubernetes": "1.35.8"}}.get(name))

    monkeypatch.setattr(outputs.pulumi, "StackReference", Reference)
    pulumi.runtime.settings.configure(
        pulumi.runtime.settings.Settings(project="own", stack="dev", organization="organization")
    )

    async def last(exported: str) -> Any:
        handed.here.set(handed.Handed({}, exported))
        return await outputs.last_published("second", "kubernetes")

    assert asyncio.run(last("second")) == "1.35.8"
    assert asyncio.run(last("third")) is None, "never exported"
    assert set(read) == {"organization/own/dev"}


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("cluster", "mars", "fleet.yaml has no stack mars. Its stacks: us-west-2, "),
        ("cluster", "us-west-2", "fleet.yaml: us-west-2 is a stack of kind region, and not of kind cluster"),
    ],
)
def test_a_name_that_is_no_such_entry_is_refused(kind: Any, name: str, said: str) -> None:
    with pytest.raises(pulumi.RunError, match=said):
        component._entry(current(ROOT / "fleet.yaml"), kind, name)


def test_an_entry_is_found_by_kind_and_name() -> None:
    world = current(ROOT / "fleet.yaml")
    assert component._entry(world, "cluster", "main").depends_on == ("us-west-2", "us-east-1")


@pytest.mark.parametrize(
    ("fleet", "said"), [(pulumi.Output, "known only once others are built"), ("gone.yaml", "there is no file /")]
)
def test_a_fleet_file_that_is_not_there_or_not_known_is_refused(fleet: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(pulumi.InputPropertyError) as refused:
        component._world(fleet)
    assert said in refused.value.reason
    assert refused.value.property_path == "fleet"


def test_problems_of_a_fleet_file_are_told_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text("fleet: x\nowner: 3\n")
    with pytest.raises(pulumi.InputPropertyError) as refused:
        component._world(str(tmp_path / "fleet.yaml"))
    assert "fleet.yaml:2: " in refused.value.reason


def test_a_project_by_the_name_of_the_fleet_s_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component.pulumi, "get_project", lambda: "landbridge")
    with pytest.raises(pulumi.InputPropertyError) as refused:
        component._world(str(ROOT / "fleet.yaml"))
    assert refused.value.reason.endswith("give the project in Pulumi.yaml another name")
