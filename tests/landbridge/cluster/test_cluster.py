"""Which cluster a command means, where it is, and what its stack published."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.world import World, current
from landbridge.cluster import info, session
from landbridge.cluster.info import ClusterInfo
from landbridge.errors import LandbridgeError, UsageError
from landbridge.local import enter
from landbridge.places import Place
from stacks.outputs import ClusterOutputs, MachineOutputs

ROOT = Path(__file__).parents[3]
MACHINE = {"role": "etcd", "zone": "a", "address": "10.0.0.1", "host": "main-etcd-1.x", "group": "g"}
OUTPUTS = {
    **dict.fromkeys(ClusterOutputs.__annotations__, "text"),
    "prefix": "example/main",
    "copies": {},
    "machines": {"main-etcd-1": MACHINE, "main-api-1": {**MACHINE, "role": "api"}},
}


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def place(folder: Path, kind: str = "local") -> Place:
    return Place(kind, folder, f"file://{folder}", "passphrase", folder)


def stack(folder: Path, outputs: dict[str, Any] | None) -> Place:
    file = folder / ".pulumi/stacks/landbridge/main.json"
    file.parent.mkdir(parents=True)
    resources = [{"type": "pulumi:pulumi:Stack", "urn": "u", **({"outputs": outputs} if outputs is not None else {})}]
    file.write_text(json.dumps({"checkpoint": {"latest": {"resources": resources}}}))
    return place(folder)


def test_what_is_read_is_what_the_contract_says() -> None:
    assert set(ClusterInfo._fields) - {"name"} <= set(ClusterOutputs.__annotations__)
    assert set(info.MachineInfo._fields) - {"name"} == set(MachineOutputs.__annotations__)


def test_a_cluster_is_read_out_of_its_stacks_state(tmp_path: Path) -> None:
    found = info.read(stack(tmp_path, OUTPUTS), "main")
    assert found.fleet == "example"
    assert [machine.name for machine in found.etcd] == ["main-etcd-1"]
    assert [machine.name for machine in found.api] == ["main-api-1"]


@pytest.mark.parametrize("outputs", [None, {}])
def test_a_stack_that_built_nothing_is_told_with_what_builds_it(tmp_path: Path, outputs: dict[str, Any] | None) -> None:
    with pytest.raises(LandbridgeError, match=r"main is not up.*`landbridge up main --local`"):
        info.read(stack(tmp_path, outputs), "main")


def test_so_is_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LandbridgeError, match=r"`landbridge up main`\."):
        info.read(place(tmp_path, "real"), "main")


def test_half_a_stack_names_what_it_lacks(tmp_path: Path) -> None:
    half = {key: value for key, value in OUTPUTS.items() if key not in ("endpoint", "authority")}
    with pytest.raises(LandbridgeError, match="publishes no endpoint, authority"):
        info.read(stack(tmp_path, half), "main")


def test_the_only_cluster_need_not_be_named_and_one_of_several_must(world: World) -> None:
    assert session.chosen(world.fleet, world.path, None) == "main"
    with pytest.raises(UsageError, match=r"no cluster other. Its clusters: main"):
        session.chosen(world.fleet, world.path, "other")
    two = world.fleet.model_copy(update={"clusters": {"one": None, "two": None}})
    with pytest.raises(UsageError, match=r"--cluster.*one, two"):
        session.chosen(two, world.path, None)
    none = world.fleet.model_copy(update={"clusters": {}})
    with pytest.raises(UsageError, match="no clusters"):
        session.chosen(none, world.path, None)


def test_no_local_cloud_is_started_to_look_for_a_cluster_in_it(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enter, "LOCAL_HOME", tmp_path / "home")
    with pytest.raises(UsageError, match=r"not up\. Run `landbridge up --local`"):
        session.the_place(world, local=True)
    with pytest.raises(UsageError, match="`state` is missing"):
        session.the_place(world, local=False)
    assert not (tmp_path / "home").exists()
