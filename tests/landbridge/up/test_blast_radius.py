"""The blast radius counts machines, volumes and tunnels, and knows when a run goes beyond the limits."""

from collections.abc import Mapping
from typing import Any

import pytest

from fleet.model import Limits
from landbridge.engine.stack_report import Step
from landbridge.up.blast_radius import blast

INSTANCE = "aws:ec2/instance:Instance"
GROUP = "aws:autoscaling/group:Group"
FILES = "aws:efs/fileSystem:FileSystem"
TUNNEL = "aws:ec2/vpnConnection:VpnConnection"
SUBNET = "aws:ec2/subnet:Subnet"


def step(
    verb: str, type_: str, name: str = "x", properties: Mapping[str, Any] | None = None, protected: bool = False
) -> Step:
    return Step(verb, type_, name, protected, (), properties or {})


def test_each_kind_and_effect_is_counted_over_all_stacks() -> None:
    found = blast(
        {
            "west": [step("created", INSTANCE), step("replaced", INSTANCE), step("deleted", TUNNEL)],
            "east": [step("created", INSTANCE), step("deleted", FILES)],
        }
    )
    assert found.as_json() == {
        "create": {"machine": 2, "volume": 0, "tunnel": 0},
        "replace": {"machine": 1, "volume": 0, "tunnel": 0},
        "destroy": {"machine": 0, "volume": 1, "tunnel": 1},
    }


def test_what_is_neither_machine_volume_nor_tunnel_does_not_count() -> None:
    found = blast({"west": [step("deleted", SUBNET), step("updated", INSTANCE), step("same", FILES)]})
    assert not any(found.total(effect) for effect in ("create", "replace", "destroy"))


@pytest.mark.parametrize(
    ("properties", "machines"),
    [({"desiredCapacity": 40}, 40), ({"desiredCapacity": 0}, 1), ({}, 1), ({"desiredCapacity": "[unknown]"}, 1)],
)
def test_a_scaling_group_counts_its_machines(properties: dict[str, Any], machines: int) -> None:
    assert blast({"pool": [step("deleted", GROUP, properties=properties)]}).total("destroy") == machines


def test_a_scale_set_counts_its_machines_from_inside_a_property() -> None:
    scale_set = step("deleted", "azure-native:compute:VirtualMachineScaleSet", properties={"sku": {"capacity": 12}})
    assert blast({"pool": [scale_set]}).total("destroy") == 12


def test_losses_are_named_with_their_stack_and_creations_are_not() -> None:
    found = blast(
        {"west": [step("deleted", FILES, "shares"), step("replaced", INSTANCE, "etcd-a"), step("created", FILES)]}
    )
    assert found.losses == ["destroys volume shares of west", "replaces machine etcd-a of west"]


def test_protected_resources_are_named_whatever_they_are() -> None:
    verbs = ("created", "updated", "same", "replaced", "deleted")
    found = blast({"west": [step(verb, SUBNET, verb, protected=True) for verb in verbs]})
    assert found.protected == ["replaced of west", "deleted of west"]


@pytest.mark.parametrize(
    ("steps", "above"),
    [
        ([step("created", INSTANCE)] * 100, []),
        ([step("created", INSTANCE)] * 101, ["creates 101, allowed are 100"]),
        ([step("replaced", INSTANCE)], ["replaces 1, allowed are 0"]),
        (
            [step("deleted", FILES), step("replaced", TUNNEL)],
            ["replaces 1, allowed are 0", "destroys 1, allowed are 0"],
        ),
        ([step("deleted", SUBNET)] * 50, []),
    ],
)
def test_limits_of_a_fleet_that_says_nothing(steps: list[Step], above: list[str]) -> None:
    assert blast({"west": steps}).above(Limits()) == above


def test_limits_are_of_the_whole_run() -> None:
    found = blast({"west": [step("deleted", FILES)], "east": [step("deleted", FILES)]})
    assert found.above(Limits(destroy=1)) == ["destroys 2, allowed are 1"]
    assert found.above(Limits(destroy=2)) == []
