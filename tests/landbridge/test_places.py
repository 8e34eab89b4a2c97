"""Where state lies: stores that Pulumi opens itself, real ones but for those in a bucket."""

import os
import subprocess
from pathlib import Path

import pytest

from fleet.model import State
from fleet.where import ENVIRONMENT
from fleet.world import World, current
from landbridge import places
from landbridge.places import written_whole
from tests.support.cloud import ROOT


@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("s3://example-state?region=us-west-2", "s3://example-state?region=us-west-2"),
        ("azblob://example-state", "azblob://example-state"),
        ("file:///srv/state", "file:///srv/state?metadata=skip"),
        ("file:///srv/state?no_tmp_dir=true", "file:///srv/state?no_tmp_dir=true&metadata=skip"),
        ("file:///srv/state?metadata=skip", "file:///srv/state?metadata=skip"),
        ("file://~/state", "file:///home/alice/state?metadata=skip"),
        ("file://~", "file:///home/alice?metadata=skip"),
        ("https://api.pulumi.com", "https://api.pulumi.com"),
        ("gs://example-state", "gs://example-state"),
    ],
)
def test_a_store_of_files_keeps_no_metadata_beside_them(
    given: str, opened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    assert written_whole(given) == opened


def test_a_team_s_own_store_of_files_is_opened_so(tmp_path: Path) -> None:
    world = current(ROOT / "fleet.yaml")
    state = State(backend=f"file://{tmp_path}", secrets="awskms://alias/example")
    shared = world.fleet.model_copy(update={"state": state})
    place = places.cloud_place(World(shared, world.plan, world.path))
    assert place.environment["PULUMI_BACKEND_URL"] == place.backend == f"file://{tmp_path}?metadata=skip"


def test_a_stack_in_a_store_of_files_has_no_file_of_metadata(tmp_path: Path) -> None:
    (state := tmp_path / "state").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: example\nruntime: python\n")
    environment = {
        "PATH": os.pathsep.join([str(ROOT / ".landbridge/bin"), os.environ["PATH"]]),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": written_whole(f"file://{state}"),
        "PULUMI_CONFIG_PASSPHRASE": "x",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    command = ["pulumi", "--non-interactive", "stack", "init", "main"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stacks = [path.name for path in state.rglob("*") if path.is_file() and "stacks" in path.parts]
    assert set(stacks) == {"main.json", "main.json.bak"}
    assert not list(state.rglob("*.attrs"))


def test_a_command_that_is_named_works_on_this_fleet_in_this_world(monkeypatch: pytest.MonkeyPatch) -> None:
    def options(world: str, file: Path) -> str:
        return places.Place(world, ROOT, "", "", ROOT, {ENVIRONMENT: str(file)}).options

    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.chdir(ROOT)
    assert (options("real", ROOT / "fleet.yaml"), options("local", ROOT / "fleet.yaml")) == ("", " --local")
    assert options("local", Path("/srv/other.yaml")) == " --local --fleet /srv/other.yaml"
    monkeypatch.chdir("/")
    assert options("real", ROOT / "fleet.yaml") == f" --fleet {ROOT / 'fleet.yaml'}", "none is found there"
    monkeypatch.setenv(ENVIRONMENT, "/srv/other.yaml")
    assert options("real", Path("/srv/other.yaml")) == ""
