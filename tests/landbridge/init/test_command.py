"""The command: its dialogue, what it refuses, and what it leaves in a folder."""

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

from fleet.errors import FleetError
from fleet.loader import load
from fleet.world import current
from landbridge.commands import landbridge
from landbridge.errors import UsageError
from landbridge.init import project
from landbridge.init.answers import name_of
from landbridge.init.questions import QUESTIONS
from landbridge.output import Output
from landbridge.projects import FILE
from tests.test_house import ROOT

WRITTEN = [
    "fleet.yaml",
    "fleet.lock.yaml",
    "Pulumi.yaml",
    "__main__.py",
    "policies/PulumiPolicy.yaml",
    "policies/__main__.py",
    ".gitignore",
]


def run(folder: Path, *arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(landbridge, ["init", *arguments, str(folder)], input=typed)


def said(done: Result) -> str:
    """Why it was refused."""
    assert isinstance(done.exception, UsageError | FleetError), (done.output, done.exception)
    return str(done.exception)


def in_folder(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Output, "interactive", property(lambda self: not self.as_json))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def test_without_questions_a_fleet_is_there_as_it_usually_is(folder: Path) -> None:
    done = run(folder, "--yes")
    assert done.exception is None, done.output
    assert in_folder(folder) == sorted(WRITTEN)
    planned = CliRunner().invoke(landbridge, ["plan", "--check", "--fleet", str(folder / "fleet.yaml")])
    assert planned.output == "fleet.lock.yaml fits fleet.yaml.\n"
    fleet = current(folder / "fleet.yaml").fleet
    assert (fleet.fleet, [*fleet.regions], [*fleet.sites]) == ("lab", ["us-east-1"], [])
    for step in (f"cd {folder}", "landbridge plan", "landbridge up --local"):
        assert step in done.output


@pytest.mark.usefixtures("terminal")
def test_each_question_is_asked_and_enter_takes_what_is_usual(folder: Path) -> None:
    done = run(folder, typed="\n" * len(QUESTIONS))
    assert done.exception is None, done.output
    for question in QUESTIONS:
        assert question.text in done.output
    assert "[aws:us-east-1]" in done.output
    assert "[none]" in done.output
    beside = folder.with_name("other")
    assert run(beside, "--yes", "--name", "lab").exception is None
    for name in WRITTEN:
        assert (folder / name).read_text() == (beside / name).read_text()


@pytest.mark.usefixtures("terminal")
def test_answers_that_make_no_fleet_are_told_and_asked_again(folder: Path) -> None:
    typed = ["My Fleet", "mine", "gcp:europe", "aws:eu-wset-1", "azure:westeurope us-west-2", "lab", "lots", "20"]
    done = run(folder, typed="\n".join([*typed, "10.0.0.1/8", "10.0.0.0/8"]) + "\n")
    assert done.exception is None, done.output
    for why in (
        "fleet is 'My Fleet'. It must be",
        "gcp is no cloud that is known here. Known: aws, azure.",
        "Perhaps you mean eu-west-1",
        "'lots' is no number of GPUs.",
        "the prefix that holds it is 10.0.0.0/8",
    ):
        assert why in done.output
    fleet = load(folder / "fleet.yaml")
    assert (fleet.fleet, [*fleet.regions], [*fleet.sites]) == ("mine", ["westeurope", "us-west-2"], ["lab"])
    assert fleet.max_gpus == 24, "three machines, in either region"
    assert fleet.supernet.startswith("100.")


@pytest.mark.usefixtures("terminal")
def test_what_an_option_says_is_not_asked(folder: Path) -> None:
    options = ["--region", "aws:eu-west-1", "--region", "azure:westeurope", "--site", "lab", "--gpus", "0"]
    done = run(folder, *options, "--name", "ours", "--reserved", "10.0.0.0/9")
    assert done.exception is None, done.output
    assert not any(question.text in done.output for question in QUESTIONS)
    fleet = load(folder / "fleet.yaml")
    assert [*fleet.regions] == ["eu-west-1", "westeurope"]
    assert [name for name, pool in fleet.pools.items() if pool.kind == "gpu"] == ["lab-gpu"]


def test_without_a_terminal_it_says_how_not_to_be_asked(folder: Path) -> None:
    assert "There is no terminal to ask on. Add --yes" in said(run(folder))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--region", "mars"], "--region: mars is a region of no cloud that is known here. Write CLOUD:REGION"),
        (["--region", "aws:us-east-1", "--region", "us-east-1"], "--region: aws:us-east-1 stands twice"),
        (["--gpus", "-1"], "--gpus: '-1' is no number of GPUs"),
        (["--gpus", "40008"], "--gpus: pool us-east-1-gpu has max 5001"),
        (["--site", "us-east-1"], "--site: site us-east-1 is called like a region"),
        (["--name", "Ours"], "--name: fleet is 'Ours'"),
        (["--reserved", "10.0.0.0/8", "--reserved", "100.64.0.0/10"], "no private range has room"),
    ],
)
def test_options_that_make_no_fleet_are_refused_and_nothing_is_written(
    folder: Path, options: list[str], why: str
) -> None:
    assert why in said(run(folder, "--yes", *options))
    assert not folder.exists()


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != ".gitignore"])
def test_a_file_that_is_there_is_named_and_kept(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("mine\n")
    why = said(run(folder, "--yes"))
    assert f"{folder} has {name} already, and nothing was written" in why
    assert "--force" in why
    assert in_folder(folder) == [name]


def test_by_force_files_are_replaced_and_kept_beside(folder: Path) -> None:
    folder.mkdir()
    (folder / "fleet.yaml").write_text("mine\n")
    for n, ending in enumerate(("former", "former-2"), start=1):
        done = run(folder, "--yes", "--force", "--gpus", str(n * 8))
        assert done.exception is None, done.output
        assert f"fleet.yaml.{ending}" in done.output
    assert (folder / "fleet.yaml.former").read_text() == "mine\n"
    assert load(folder / "fleet.yaml").pools["us-east-1-gpu"].max == 2


def test_by_force_prefixes_that_are_given_out_stay(folder: Path) -> None:
    assert run(folder, "--yes").exception is None
    before = current(folder / "fleet.yaml")
    done = run(folder, "--yes", "--force", "--region", "us-east-1", "--region", "us-west-2")
    assert done.exception is None, done.output
    now = current(folder / "fleet.yaml")
    assert now.fleet.supernet == before.fleet.supernet
    assert now.plan.blocks.items() > before.plan.blocks.items()
    why = said(run(folder, "--yes", "--force", "--reserved", before.plan.region("us-east-1").block))
    assert "which is live as" in why
    assert "fleet.lock.yaml" in why
    assert current(folder / "fleet.yaml").plan.blocks == now.plan.blocks


def test_a_gitignore_is_added_to(folder: Path) -> None:
    folder.mkdir()
    (folder / ".gitignore").write_text("mine/\n.venv/\n")
    assert json.loads(run(folder, "--yes", "--json").output)["files"][".gitignore"] == "extended"
    lines = (folder / ".gitignore").read_text().splitlines()
    assert lines[:2] == ["mine/", ".venv/"]
    assert sorted(lines[1:]) == sorted(project.IGNORED)


def test_machines_get_a_document(folder: Path) -> None:
    told = json.loads(run(folder, "--yes", "--json").output)
    assert told["files"] == dict.fromkeys(WRITTEN, "new")
    assert (told["fleet"], told["folder"], told["former"]) == ("lab", str(folder), {})
    assert told["supernet"] == load(folder / "fleet.yaml").supernet
    assert told["next"][0] == f"cd {folder}"


def test_a_folder_that_takes_no_files_is_named(folder: Path) -> None:
    folder.parent.joinpath("file").write_text("")
    assert f"{folder.parent}/file" in said(run(folder.parent / "file" / "below", "--yes"))


def test_pulumi_s_files_are_ours_but_for_where_python_is(folder: Path) -> None:
    assert run(folder, "--yes").exception is None
    own, made = (YAML(typ="safe").load(where / FILE) for where in (ROOT, folder))
    assert (made["name"], made["config"], made["runtime"]["name"]) == (own["name"], own["config"], "python")
    pack = YAML(typ="safe").load(folder / "policies/PulumiPolicy.yaml")
    for where, file in ((folder, made), (folder / "policies", pack)):
        there = (where / file["runtime"]["options"]["virtualenv"]).resolve()
        assert there == Path(sys.prefix).resolve()


def test_another_fleet_file_that_the_environment_names_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "LANDBRIDGE_FLEET" not in run(folder.with_name("one"), "--yes").output
    monkeypatch.setitem(os.environ, "LANDBRIDGE_FLEET", "/elsewhere/fleet.yaml")
    assert "LANDBRIDGE_FLEET names /elsewhere/fleet.yaml" in run(folder, "--yes").output


@pytest.mark.parametrize(
    ("folder_name", "name"),
    [
        ("lab", "lab"),
        ("My Lab_2", "my-lab-2"),
        ("2026", "fleet"),
        ("", "fleet"),
        ("x" * 40, "fleet"),
        ("audit", "fleet"),
    ],
)
def test_a_fleet_is_called_like_its_folder_where_that_is_a_name(folder_name: str, name: str) -> None:
    assert name_of(folder_name) == name
