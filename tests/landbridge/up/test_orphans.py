"""Stacks that no fleet file names any more: what their states tell, who may not lose them, and in which order they go."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.world import current
from landbridge.commands.update import to_destroy
from landbridge.errors import LandbridgeError, UsageError
from landbridge.up import order, orphans
from landbridge.up.orphans import Orphan
from stacks.catalogue import PROJECT, StackSpec, catalogue
from tests.support.cloud import ROOT

STACK = {"type": "pulumi:pulumi:Stack", "urn": "…"}


def state(*types: str, reads: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    read = ({"type": orphans.REFERENCE, "id": f"organization/landbridge/{one}", "external": True} for one in reads)
    return {"resources": [STACK | more, *({"type": one, "urn": one} for one in types), *read]}


AWS = {"type": "pulumi:providers:aws", "inputs": {"region": "us-east-1"}}
AZURE = {"type": orphans.AZURE, "inputs": {"location": "westus3", "subscriptionId": "…1"}}
TOLD = {
    "a region of AWS": (
        "us-east-1",
        {"resources": [STACK, AWS, {"type": "landbridge:network:Network"}]},
        Orphan(StackSpec("us-east-1", "region", "us-east-1")),
    ),
    "a region of Azure that was ended before it had a network": (
        "westus3",
        {"resources": [STACK, AZURE]},
        Orphan(StackSpec("westus3", "region", "westus3"), "…1"),
    ),
    "a pool": (
        "old",
        state("landbridge:pools:Pool", reads=("us-east-1", "main", "old"), outputs={"region": "us-east-1"}),
        Orphan(StackSpec("old", "pool", "us-east-1", ("us-east-1", "main"))),
    ),
    "a pool that was ended before it had outputs": (
        "old",
        {"resources": [*state("landbridge:pools:Pool", reads=("main", "us-east-1"))["resources"], AWS]},
        Orphan(StackSpec("old", "pool", "us-east-1", ("main", "us-east-1"))),
    ),
    "a pool of hosts": (
        "lab",
        state("landbridge:pools:SitePool", reads=("west", "main"), outputs={"region": "west"}),
        Orphan(StackSpec("lab", "pool", "west", ("west", "main"))),
    ),
    "a cluster": (
        "main",
        state("landbridge:control-plane:ControlPlane", reads=("west", "main"), outputs={"region": "west"}),
        Orphan(StackSpec("main", "cluster", "west", ("west",))),
    ),
    "servers for laptops": (
        "west-laptops",
        state("landbridge:links:Laptops", reads=("west", "main"), outputs={"region": "west"}),
        Orphan(StackSpec("west-laptops", "laptops", "west", ("west", "main"))),
    ),
    "add-ons": (
        "main-addons",
        state("landbridge:addons:TeamRoles", "landbridge:addons:AddOns", reads=("main", "west")),
        Orphan(StackSpec("main-addons", "addons", "main", ("main", "west"))),
    ),
    "links": (
        "links",
        state("landbridge:links:Links", reads=("west", "east")),
        Orphan(StackSpec("links", "links", "west", ("west", "east"))),
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_a_state_tells_what_a_stack_is(what: str) -> None:
    name, held, expected = TOLD[what]
    assert orphans.orphan(name, held) == expected


def of(fleet: str) -> dict[str, Any]:
    tagged = {"type": "x:y:Z", "urn": "z", "inputs": {"tags": {"landbridge:fleet": fleet}}}
    return {"resources": [STACK, {"type": "x:y:Untagged", "urn": "u"}, tagged]}


def test_stacks_of_the_fleet_that_hold_something_and_have_no_entry_are_orphans(tmp_path: Path) -> None:
    folder = tmp_path / ".pulumi/stacks" / PROJECT
    folder.mkdir(parents=True)
    for name, held in {"west": of("f"), "old": of("f"), "foreign": of("g"), "empty": state()}.items():
        (folder / f"{name}.json").write_text(json.dumps({"checkpoint": {"latest": held}}))
    place: Any = SimpleNamespace(
        state_folder=tmp_path / ".pulumi", logs=tmp_path / "logs", stack_file=lambda name: folder / f"{name}.json",
        project=tmp_path, environment={}, secrets_provider="passphrase", backend="file:///x",
    )  # fmt: skip
    command: Any = SimpleNamespace(for_stack=lambda _log: None)
    assert sorted(orphans.every(place, command)) == ["empty", "foreign", "old", "west"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orphans, "StackEngine", lambda name, place, _: SimpleNamespace(
            state=lambda: json.loads(place.stack_file(name).read_text())["checkpoint"]["latest"]
        ))  # fmt: skip
        assert list(orphans.orphans(place, "f", ["west"], command)) == ["old"]
    (note,) = orphans.notice(["old"], "fleet.yaml", " --local")
    assert note == "old stands, and fleet.yaml names it no more: `landbridge destroy old --local` takes it down."


def test_what_others_were_built_on_goes_after_they_have_let_go_of_it() -> None:
    reads = {"links": ("us-west-2", "us-east-1"), "cpu": ("us-west-2", "main")}.get
    every = ["us-west-2", "links", "cpu"]
    order.refuse_read("us-east-1", ["us-east-1", "links"], every, lambda name: reads(name, ()), "")
    with pytest.raises(
        LandbridgeError, match=r"^links still holds what leads to us-east-1\. .* `landbridge up --local links`$"
    ):
        order.refuse_read("us-east-1", ["us-east-1"], every, lambda name: reads(name, ()), " --local")


def test_a_fleet_goes_with_what_its_file_has_forgotten_in_an_order_that_states_tell() -> None:
    world = current(ROOT / "fleet.yaml")
    left = {"old-region": Orphan(StackSpec("old-region", "region", "old-region"))}
    states = {"links": state(reads=("us-west-2", "old-region"))}
    picked = to_destroy((), world, left, states.get)
    assert [spec.name for spec in picked] == [*(spec.name for spec in catalogue(world.fleet)), "old-region"]
    assert "links" in order.of_destroy({spec.name: spec for spec in picked})["old-region"]
    assert [spec.name for spec in to_destroy(("old-region",), world, left, states.get)] == ["old-region"]
    with pytest.raises(UsageError, match="no stack older-region"):
        to_destroy(("older-region",), world, left, states.get)
