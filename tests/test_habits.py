"""What people expect at the top of a repository is there, and true of this one."""

import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")


def read(name: str) -> str:
    return (ROOT / name).read_text()


def test_hooks_are_the_commands_of_make_lint() -> None:
    (local,) = YAML(typ="safe").load(read(".pre-commit-config.yaml"))["repos"]
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)
    assert recipe
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines() if "$(BIN)" in line]
    assert local["repo"] == "local"
    assert [hook["entry"] for hook in local["hooks"]] == commands
    assert {hook["language"] for hook in local["hooks"]} == {"system"}


def test_the_license_is_the_one_that_the_package_names() -> None:
    assert tomllib.loads(read("pyproject.toml"))["project"]["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0, January 2004" in read("LICENSE")


@pytest.mark.parametrize("page", PAGES)
def test_folders_and_files_that_a_page_names_are_there(page: str) -> None:
    named = set(re.findall(r"`(/?(?:\w[\w.-]*/)+(?:[\w-]+\.(?:py|yaml|lock|toml|md))?)`", read(page)))
    generic = {name for name in named if name.startswith("golden/") or "MODULE" in name}
    assert [name for name in sorted(named - generic) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_that_a_page_names_are_there(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", read(page), re.MULTILINE)) <= targets


def test_the_changelog_keeps_its_form() -> None:
    heads = re.findall(r"^## (.*)$", read("CHANGELOG.md"), re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head) for head in heads[1:])
    kinds = set(re.findall(r"^### (.*)$", read("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_is_one_that_github_takes(path: Path) -> None:
    form = YAML(typ="safe").load(path)
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": False}
        return
    assert {"name", "description", "body"} <= form.keys()
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert all(part["attributes"]["label"] for part in fields)
    assert len({part["id"] for part in fields}) == len(fields)
    assert any(part.get("validations", {}).get("required") for part in fields)
