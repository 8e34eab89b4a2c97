"""What settings of stacks name of Pulumi ESC, for what `landbridge` asks clouds itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from landbridge import esc

HAS: dict[str, dict[str, Any]] = {
    "example/fleet/credentials": {
        "environmentVariables": {"AWS_ACCESS_KEY_ID": "one", "AWS_REGION": "us-west-2"},
        "pulumiConfig": {"a": {"b": 1, "c": 2}},
    },
    "example/default/more": {"environmentVariables": {"AWS_REGION": "eu-west-1"}, "pulumiConfig": {"a": {"b": 3}}},
}
BOTH = "environment: [fleet/credentials, more]\n"


def opened(folder: Path, **settings: str) -> tuple[esc.Environments, list[str]]:
    """And what was opened for that, in its order."""
    asked: list[str] = []
    for stack, text in settings.items():
        (folder / f"Pulumi.{stack}.yaml").write_text(text)

    def open_(name: str) -> Mapping[str, Any]:
        asked.append(name)
        return HAS[name]

    return esc.opened(folder, ["one", "two", "three"], "example", open_), asked


def test_variables_are_those_of_the_later_as_the_engine_has_them(tmp_path: Path) -> None:
    found, asked = opened(tmp_path, one=BOTH, two="config: {}\n" + BOTH)
    assert asked == ["example/fleet/credentials", "example/default/more"]
    assert found.variables == {"AWS_ACCESS_KEY_ID": "one", "AWS_REGION": "eu-west-1"}
    assert found.named == {"one", "two"}
    assert found.note == ""


def test_what_else_there_is_counts_and_what_it_was_is_not_told(tmp_path: Path) -> None:
    one, _ = opened(tmp_path, one=BOTH)
    two, _ = opened(tmp_path, one="environment: [fleet/credentials]")
    HAS["example/default/more"]["pulumiConfig"]["a"]["b"] = 4
    three, _ = opened(tmp_path, one=BOTH)
    assert len({one.rest, two.rest, three.rest}) == len("123")
    assert {len(found.rest) for found in (one, two, three)} == {32}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"one": BOTH, "two": "environment: [more]"}, "Pulumi.one.yaml and Pulumi.two.yaml name different"),
        ({"one": "environment: {values: {environmentVariables: {A: b}}}"}, "Pulumi.one.yaml has an environment"),
        ({"one": "environment: {imports: [{more: {merge: false}}]}"}, "Pulumi.one.yaml has an environment"),
    ],
)
def test_what_no_one_environment_can_be_is_left_to_engines(settings: dict[str, str], said: str, tmp_path: Path) -> None:
    found, asked = opened(tmp_path, **settings)
    assert asked == []
    assert found.named == set(settings)
    assert (found.variables, found.rest) == ({}, "")
    assert found.note.startswith(said)


@pytest.mark.parametrize(
    "text", ["", "config: {environment: a}\n", "environment: []\n", "environment: [\n", "- environment\n"]
)
def test_other_settings_name_none(text: str, tmp_path: Path) -> None:
    assert opened(tmp_path, one=text) == (esc.Environments(), [])
