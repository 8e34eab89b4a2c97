"""What a cluster asks for on the local cloud: refused by line, or built before anything starts."""

import sys
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.world import World, current
from landbridge import command_line
from landbridge.errors import LandbridgeError
from landbridge.local import enter
from landbridge.local import kubernetes as local_kubernetes
from local import kubernetes, standins
from local.supervisor import programs
from stacks.catalogue import StackSpec, catalogue
from tests.support.cloud import ROOT


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture
def stacks(world: World) -> list[StackSpec]:
    return list(catalogue(world.fleet))


def test_a_version_that_the_local_cloud_lacks_is_refused_with_its_line_and_those_it_has(
    world: World, stacks: list[StackSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    local_kubernetes.check(world, stacks)
    monkeypatch.setattr(kubernetes, "VERSIONS", ("1.34.1",))
    with pytest.raises(FleetError) as refused:
        local_kubernetes.check(world, stacks)
    lines = (ROOT / "fleet.yaml").read_text().splitlines()
    (problem,) = refused.value.problems
    assert "kubernetes: 1.36.2" in lines[(problem.line or 0) - 1]
    assert str(problem).startswith("fleet.yaml:")
    assert problem.what == "cluster main asks for Kubernetes 1.36.2, which the local cloud can't run"
    assert problem.remedy == "It has 1.34.1"
    local_kubernetes.check(world, [stack for stack in stacks if stack.kind != "cluster"])


@pytest.fixture
def nothing_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kubernetes, "OLDER", tmp_path)
    monkeypatch.setattr(kubernetes, "BUILT_IN", "1.35.8")
    monkeypatch.setattr(kubernetes, "VERSIONS", ("1.35.8", "1.36.2"))
    return tmp_path / "1.36.2"


def builder(folder: Path, code: int) -> Path:
    file = folder / "builder.py"
    servers = "".join(f"(p / {name!r}).touch(0o755);" for name in kubernetes.SERVERS)
    make = f"p = pathlib.Path({str(folder)!r}) / sys.argv[1]; p.mkdir(parents=True); {servers}" if code == 0 else ""
    file.write_text(f"import pathlib, sys; print('building'); {make} sys.exit({code})")
    return file


def test_what_is_not_there_is_built_once_and_tells_of_it_on_stderr(
    world: World,
    stacks: list[StackSpec],
    nothing_built: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(local_kubernetes, "BUILDER", builder(nothing_built.parent, 0))
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    local_kubernetes.build(world, stacks)
    assert kubernetes.lacks("1.36.2") == []
    local_kubernetes.build(world, stacks)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "building\n")


def test_a_build_that_fails_starts_nothing(
    world: World, stacks: list[StackSpec], nothing_built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_kubernetes, "BUILDER", builder(nothing_built.parent, 1))
    with pytest.raises(LandbridgeError, match=r"1\.36\.2 could not be built, and nothing was started"):
        local_kubernetes.build(world, stacks)


def test_up_stays_outside_a_local_cloud_that_is_up_while_there_is_something_to_build(
    nothing_built: Path, tmp_path: Path
) -> None:

    def builds_first(*words: str) -> bool:
        line = command_line.taken_apart(words)
        assert line
        return enter.builds_first(line)

    up = ("up", "--local", "--fleet", str(ROOT / "fleet.yaml"))
    assert builds_first(*up)
    assert builds_first("up", "--local", f"--fleet={ROOT / 'fleet.yaml'}")
    assert builds_first("--fleet", str(ROOT / "fleet.yaml"), "--local", "up")
    assert not builds_first("status", *up[1:])
    assert not builds_first(*up[:3], str(tmp_path / "none.yaml"))
    nothing_built.mkdir()
    for name in kubernetes.SERVERS:
        (nothing_built / name).touch(0o755)
    assert not builds_first(*up)


def test_each_version_has_an_image_of_its_own_and_its_servers_lie_apart() -> None:
    assert len(set(standins.STAND_INS.values())) == len(kubernetes.VERSIONS) * len(standins.VARIANTS)
    for version in kubernetes.VERSIONS:
        for variant in standins.VARIANTS:
            name = standins.image(variant, version)
            assert name in standins.STAND_INS
            assert standins.kubernetes(name) == version
    assert standins.kubernetes("landbridge-made-of-one") == kubernetes.BUILT_IN
    assert len({kubernetes.folder(version) for version in kubernetes.VERSIONS}) == len(kubernetes.VERSIONS)
    assert programs.missing(kubernetes.BUILT_IN) == []
