"""Add-ons run what the lock says, and what is held by a tag alone is told once for a stack, and refused by nobody."""

from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2

from components.addons import addons
from components.addons.component import resource_name, token
from components.addons.spec import addons_spec
from fleet import container_lock
from fleet.world import World
from policies import containers, pack, workloads

from .judging import analyze, example


@pytest.fixture(scope="module")
def world() -> World:
    return example()


@pytest.fixture
def resources(world: World) -> list[dict[str, Any]]:
    made = addons.manifests(addons_spec(world.fleet, world.plan, "main"))
    return [
        {"type": token(one), "name": resource_name(one), "protect": False, "props": one}
        for manifests in made.values()
        for one in manifests
        if token(one) in workloads.WORKLOADS
    ]


def told(resources: list[dict[str, Any]], world: World) -> dict[str, list[Any]]:
    """Policy → what it says."""
    found: dict[str, list[Any]] = {"containers": [], "unlocked": []}
    for one in analyze(resources, pack.policies(world)):
        found.setdefault(one.policyName, []).append(one)
    return found


def test_add_ons_run_what_is_locked_and_one_line_tells_of_the_others(
    resources: list[dict[str, Any]], world: World
) -> None:
    said = told(resources, world)
    assert said["containers"] == []
    (advice,) = said["unlocked"]
    assert advice.enforcementLevel == analyzer_pb2.ADVISORY
    loose = {name for name, pin in container_lock.locked().items() if pin.digest is None}
    assert f"{len(loose & images(resources))} of the stack's images are held by tags alone" in advice.message


def images(resources: list[dict[str, Any]]) -> set[str]:
    pods = [one["props"]["spec"]["template"]["spec"] for one in resources]
    return {image["image"] for pod in pods for kind in containers.KINDS for image in pod.get(kind, [])}


def test_once_all_have_digests_nothing_is_said(
    resources: list[dict[str, Any]], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = f"sha256:{64 * 'a'}"
    full = {name: pin._replace(digest=pin.digest or digest) for name, pin in container_lock.locked().items()}
    monkeypatch.setattr(container_lock, "locked", lambda: full)
    by_tag = told(resources, world)["containers"]
    assert len(by_tag) > 5
    assert all("runs by its tag alone, and is locked as" in one.message for one in by_tag)
    for one in resources:
        pod = one["props"]["spec"]["template"]["spec"]
        for image in [image for kind in containers.KINDS for image in pod.get(kind, [])]:
            image["image"] = container_lock.reference(image["image"].partition("@")[0])
    assert told(resources, world) == {"containers": [], "unlocked": []}
