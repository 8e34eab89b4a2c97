"""Which fleet file a command takes, and that it says so: ours, and plain `pulumi` with the programs of all stacks."""

import json
from pathlib import Path

import pytest

from landbridge.errors import USAGE
from tests.support.cloud import ROOT

from .state_bed import Team, make


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    made = make(tmp_path_factory.mktemp("team"))
    made.environment["PULUMI_CONFIG_PASSPHRASE"] = "ours"
    made.project(ROOT / "stacks")
    (made.folder / "deep").mkdir()
    made.pulumi("stack", "init", "elsewhere")
    return made


def test_commands_that_act_name_the_file_they_found(team: Team) -> None:
    done = team.landbridge("destroy", "--yes", "--json", at=team.folder / "deep")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"Fleet small: {team.fleet}\n"), "what people read is not in the document"
    assert json.loads(done.stdout)["fleet_file"] == str(team.fleet)


@pytest.mark.parametrize("command", ["up", "doctor", "plan", "kubeconfig"])
def test_without_a_file_nothing_is_guessed(team: Team, command: str) -> None:
    done = team.landbridge(command, at=team.home)
    assert done.returncode == USAGE
    assert f"fleet.yaml: there is none in {team.home}, nor in a folder above it." in done.stderr
    assert "--fleet FILE or LANDBRIDGE_FLEET=FILE" in done.stderr
    assert done.stderr.count("\n") == 1


def test_plain_pulumi_takes_the_file_above_its_user_and_says_so(team: Team) -> None:
    said = team.pulumi("preview", "-s", "elsewhere", at=team.folder / "deep")
    assert f"Fleet small: {team.fleet}" in said
    assert "fleet.yaml has no stack elsewhere. Its stacks: us-west-2" in said, "it is ours, and not the example"


@pytest.mark.parametrize("more", [(), ("--policy-pack", str(ROOT / "policies"))], ids=["program", "policies"])
def test_plain_pulumi_without_a_file_says_where_it_looked(team: Team, more: tuple[str, ...]) -> None:
    away = team.fleet.rename(team.fleet.with_name("away.yaml"))
    try:
        said = team.pulumi("preview", "-s", "elsewhere", *more, at=team.folder / "deep")
    finally:
        away.rename(team.fleet)
    assert f"fleet.yaml: there is none in {team.folder}/deep, nor in a folder above it." in said
    assert "LANDBRIDGE_FLEET=FILE" in said
    assert bool(more) == ("failed to start" in said), "a pack that knows no fleet judges none"


def test_two_files_are_one_too_many(team: Team, tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text("")
    said = team.pulumi("-C", str(team.folder), "preview", "-s", "elsewhere", at=tmp_path)
    assert f"{tmp_path}/fleet.yaml is above where you stand, and {team.fleet} is of Pulumi's project" in said


def test_policies_judge_by_the_fleet_of_a_project_that_the_user_does_not_stand_in(team: Team) -> None:
    words = ["-C", str(team.folder), "preview", "-s", "elsewhere", "--policy-pack", str(ROOT / "policies")]
    said = team.pulumi(*words, at=team.home)
    assert "failed to start" not in said
    assert "fleet.yaml has no stack elsewhere" in said, "the program was asked, after the pack"
