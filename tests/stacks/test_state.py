"""A team's state in a store of files: secrets by a passphrase, stacks that read each other, settings beside the fleet."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation import CommandError

from landbridge import projects
from landbridge.engine import failures
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import StackReport
from landbridge.errors import UsageError
from landbridge.passphrase import FILE, VARIABLE

from .state_bed import Team, engine, make, resource, up


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    made = make(tmp_path)
    (made.home / "phrase").write_text("ours\n")
    monkeypatch.chdir(made.home)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(FILE, "phrase")
    monkeypatch.setenv("PULUMI_HOME", str(made.home / "pulumi"))
    monkeypatch.setattr(projects, "HOME", made.home / "landbridge")
    return made


def refusal(stack: StackEngine, act: Callable[[], Any]) -> str:
    """What is shown of an error."""
    with pytest.raises(CommandError) as caught:
        act()
    (problem,) = failures.worth_telling(StackReport(stack.name), caught.value, stack.place)
    return problem.message


def test_secrets_by_passphrase_and_a_stack_that_reads_from_another(team: Team) -> None:
    team.program()
    one, two = engine(team.place, "one"), engine(team.place, "two")
    up(one)
    up(two)
    assert resource(two, "Stack")["outputs"] == {"heard": "hello"}
    assert resource(two, "StackReference")["id"] == "organization/landbridge/one", "as stores of files have it"

    written = [path.read_text() for path in team.state.rglob("*.json")]
    assert not [text for text in written if "hush-hush" in text]
    assert "ciphertext" in resource(one, "Stack")["outputs"]["kept"]
    settings = team.folder / "Pulumi.one.yaml"
    assert settings.read_text().startswith("encryptionsalt: v1:")

    # Another person has the files of a repository, and not these; and may be mistaken in the passphrase.
    settings.unlink()
    up(one)
    (team.home / "phrase").write_text("theirs")
    assert "incorrect passphrase" in refusal(one, lambda: up(one))
    assert "ciphertext" in resource(one, "Stack")["outputs"]["kept"]


def test_a_run_does_not_begin_without_the_passphrase(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FILE)
    with pytest.raises(
        UsageError, match=rf"^fleet\.yaml: a passphrase .* there is none\. Set {VARIABLE} .*, or {FILE}"
    ):
        assert team.place


def test_settings_lie_beside_a_fleet_file_that_has_no_project_of_its_own(team: Team) -> None:
    stack = engine(team.place, "one")
    assert stack.place.project == team.home / "landbridge/projects/small"
    stack.found()
    assert (team.folder / "Pulumi.one.yaml").read_text().startswith("encryptionsalt: v1:")
    assert {path.name for path in stack.place.project.iterdir()} == {"Pulumi.yaml", "__main__.py"}
    state = json.loads((team.state / ".pulumi/stacks/landbridge/one.json").read_text())
    assert state["checkpoint"]["latest"]["secrets_providers"]["type"] == "passphrase"
    # What it runs are the repository's programs.
    said = refusal(stack, lambda: stack.preview(lambda _: None, refresh=False, diff=False, parallel=None))
    assert "fleet.yaml has no stack one" in (stack.log.read_text() + said)


def test_settings_lie_where_a_project_beside_the_fleet_file_says(team: Team) -> None:
    team.program()
    with (team.folder / "Pulumi.yaml").open("a") as file:
        file.write("stackConfigDir: settings\n")
    stack = engine(team.place, "one")
    stack.found()
    assert (stack.place.settings_folder / "Pulumi.one.yaml").read_text().startswith("encryptionsalt: v1:")
    assert stack.place.settings_folder == team.folder / "settings"


def test_another_project_beside_the_fleet_file_is_refused(team: Team) -> None:
    for text, name in {"name: theirs\n": "theirs", "- a list\n": "None", "{\n": "None"}.items():
        (team.folder / "Pulumi.yaml").write_text(text)
        with pytest.raises(UsageError, match=rf"ours/Pulumi\.yaml is of the project {name}, .* of landbridge"):
            assert team.place
