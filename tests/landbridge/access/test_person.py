"""Who works in a cluster, by a kubeconfig: what is said of a file that is none, or is somebody else's."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.control_plane import kubeconfig
from fleet.model import Person as Entry
from fleet.world import World
from landbridge.access import person
from landbridge.errors import UsageError
from tests.landbridge.experiments import bed
from tests.support.node_certificates import certificate


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """With a person, and without a cloud to look into."""
    made = bed.world()
    people = {"bob": Entry(uid=3001, team="vision")}
    monkeypatch.setattr(person.sessions, "the_place", lambda *_, **__: SimpleNamespace(options=" --local"))
    return replace(made, fleet=made.fleet.model_copy(update={"people": people}))


def written(folder: Path, cluster: str = "test-main", user: str = "bob", now: datetime | None = None) -> Path:
    file = folder / "bob.kubeconfig"
    pem = certificate(user, ends=timedelta(days=1), now=now).pem
    file.write_text(kubeconfig.kubeconfig(cluster, user, {"server": "https://example.com"}, "", pem, ""))
    return file


def opened(world: World, file: Path, **more: Any) -> person.Person:
    given: dict[str, Any] = {"cluster": None, "team": None, **more}
    return person.opened(world, given["cluster"], local=True, kubeconfigs=[file], team=given["team"])


def test_a_kubeconfig_says_who_and_where(world: World, tmp_path: Path) -> None:
    found = opened(world, written(tmp_path))
    assert (found.name, found.team, found.cluster, found.namespace) == ("bob", "vision", "main", "team-vision")
    assert found.bucket == "test-us-west-2-123456789012"


def test_a_file_that_is_none_is_told_with_how_to_have_one(world: World, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no: kubeconfig")
    for name, told in (("text", "is no kubeconfig for one cluster"), ("none", "can't be read: No such file")):
        with pytest.raises(UsageError, match=f"{told}.*`landbridge kubeconfig --as NAME`"):
            opened(world, tmp_path / name)


@pytest.mark.parametrize(
    ("fields", "more", "told"),
    [
        ({"cluster": "other-main"}, {}, "is for other-main, which is no cluster of queues.yaml: test-main"),
        ({"user": "eve"}, {}, "is eve's, who is not under people in queues.yaml"),
        ({}, {"team": "speech"}, "--team speech: bob is of team vision, and runs in no other"),
        ({}, {"cluster": "second"}, "is for the cluster main, not for second"),
    ],
)
def test_a_file_of_somebody_else_or_somewhere_else_is_refused(
    world: World, tmp_path: Path, fields: dict[str, str], more: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        opened(world, written(tmp_path, **fields), **more)


def test_of_several_files_that_of_the_cluster_is_taken(world: World, tmp_path: Path) -> None:
    clusters = {"main": world.fleet.clusters["main"], "second": world.fleet.clusters["main"]}
    world = replace(world, fleet=world.fleet.model_copy(update={"clusters": clusters}))
    files = []
    for name in clusters:
        (tmp_path / name).mkdir()
        files.append(written(tmp_path / name, cluster=f"test-{name}"))
    assert person.clusters(world, files) == ["main", "second"]
    for name in clusters:
        assert person.opened(world, name, local=True, kubeconfigs=files, team=None).cluster == name
    for cluster, told in (
        (None, "you have kubeconfigs for main, second"),
        ("third", "your kubeconfigs are for main, s"),
    ):
        with pytest.raises(UsageError, match=told):
            person.opened(world, cluster, local=True, kubeconfigs=files, team=None)


def test_an_operator_of_several_teams_says_which(world: World) -> None:
    with pytest.raises(UsageError, match="Name the team with --team: vision, speech, robots"):
        person.only_team(world, "main")


def test_a_certificate_that_has_ended_is_told_with_how_to_have_another(world: World, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"bob\.kubeconfig was good until 2020-.*`landbridge kubeconfig --as NAME`"):
        opened(world, written(tmp_path, now=datetime(2020, 1, 2, tzinfo=UTC)))
