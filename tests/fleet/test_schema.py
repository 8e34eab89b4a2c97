"""The published JSON Schema is current and judges a file's shape as the loader does."""

import json
from pathlib import Path

import jsonschema
import pytest

from fleet.schema import json_schema, render
from fleet.yaml import plain, read

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_committed_schema_is_current() -> None:
    assert (ROOT / "docs/fleet.schema.json").read_text() == render(), "run `make golden`"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(render()))


def instance(path: Path) -> object:
    data, _ = read(path)
    return plain(data)


@pytest.mark.parametrize("path", sorted(HERE.glob("bad/shape/*.yaml")), ids=lambda path: path.stem)
def test_the_schema_refuses_what_the_loader_refuses_for_its_shape(path: Path) -> None:
    assert not VALIDATOR.is_valid(instance(path))


@pytest.mark.parametrize(
    "path",
    [*sorted(HERE.glob("bad/rules/*.yaml")), *sorted(HERE.glob("good/*.yaml")), ROOT / "fleet.yaml"],
    ids=lambda path: path.stem,
)
def test_the_schema_accepts_what_only_a_rule_can_refuse(path: Path) -> None:
    VALIDATOR.validate(instance(path))
