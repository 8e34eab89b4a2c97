"""A kubeconfig is used again only while nothing that it came from has changed."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from landbridge.cluster import kubeconfig_cache
from landbridge.cluster.kubeconfig_cache import CachedKubeconfig, CommandLine


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("get pods", CommandLine(None, False, None, ("get", "pods"))),
        ("--local get --raw /readyz", CommandLine(None, True, None, ("get", "--raw", "/readyz"))),
        ("--cluster two --fleet f.yaml get", CommandLine("two", False, "f.yaml", ("get",))),
        ("--cluster=two --local", CommandLine("two", True, None, ())),
        # What follows kubectl's own words is kubectl's.
        ("set image x --local", CommandLine(None, False, None, ("set", "image", "x", "--local"))),
        (
            "-n kube-system get pods --cluster three",
            CommandLine(None, False, None, ("-n", "kube-system", "get", "pods", "--cluster", "three")),
        ),
        ("get --help", CommandLine(None, False, None, ("get", "--help"))),
    ],
)
def test_our_options_end_where_kubectls_words_begin(line: str, asked: CommandLine) -> None:
    assert kubeconfig_cache.taken_apart(line.split()) == asked


@pytest.mark.parametrize("line", ["--help", "-h", "--local -h", "--cluster"])
def test_the_command_itself_judges_what_is_not_plain(line: str) -> None:
    assert kubeconfig_cache.taken_apart(line.split()) is None


@pytest.fixture
def saved(tmp_path: Path) -> CachedKubeconfig:
    for name in ("fleet.yaml", "state.json", "kubectl"):
        (tmp_path / name).write_text(name)
    made = CachedKubeconfig(tmp_path / "home", CommandLine(None, True, str(tmp_path / "fleet.yaml"), ()))
    made.folder.mkdir(parents=True)
    made.config.write_text("{}")
    made.save(str(tmp_path / "kubectl"), tmp_path / "state.json", None)
    return made


def again(saved: CachedKubeconfig) -> dict[str, Any] | None:
    return CachedKubeconfig(saved.home, CommandLine(None, True, str(saved.fleet), ("other", "words"))).cached()


def test_it_holds_while_nothing_changes(saved: CachedKubeconfig) -> None:
    assert again(saved)


@pytest.mark.parametrize("name", ["fleet.yaml", "state.json"])
def test_it_ends_with_a_change_of_the_fleet_file_or_the_state(
    saved: CachedKubeconfig, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("another")
    assert again(saved) is None


@pytest.mark.parametrize("name", ["fleet.yaml", "state.json", "kubectl"])
def test_it_ends_when_what_it_came_from_is_gone(saved: CachedKubeconfig, tmp_path: Path, name: str) -> None:
    (tmp_path / name).unlink()
    assert again(saved) is None


def test_a_broken_record_counts_for_nothing(saved: CachedKubeconfig) -> None:
    saved.record.write_text("{broken")
    assert again(saved) is None


def test_another_way_of_asking_has_another_one(saved: CachedKubeconfig) -> None:
    for asked in (CommandLine("main", True, str(saved.fleet), ()), CommandLine(None, False, str(saved.fleet), ())):
        assert CachedKubeconfig(saved.home, asked).cached() is None


def test_on_real_clouds_it_ends_after_an_hour(saved: CachedKubeconfig) -> None:
    saved.save(str(saved.home.parent / "kubectl"), None, None)
    assert again(saved)
    told = json.loads(saved.record.read_text())
    assert told["until"] <= time.time() + 3600
    saved.record.write_text(json.dumps({**told, "until": time.time() - 1}))
    assert again(saved) is None


def test_an_up_ends_all(saved: CachedKubeconfig) -> None:
    kubeconfig_cache.forget(saved.home)
    assert again(saved) is None


def test_one_of_a_local_cloud_that_is_gone_is_not_used(
    saved: CachedKubeconfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.loads(saved.record.read_text())
    saved.record.write_text(json.dumps({**told, "cloud": "a generation"}))
    monkeypatch.setattr(os, "execvpe", lambda *_given: pytest.fail("it must not start"))
    kubeconfig_cache.at_once(saved.home, tmp_path / "no cloud", ["--local", "--fleet", str(saved.fleet), "get"])
