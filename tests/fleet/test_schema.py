"""The published JSON Schema is current and judges a file's shape as the loader does."""

import json
from pathlib import Path

import jsonschema
import pytest

from fleet.errors import FleetError
from fleet.loader import load
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


def test_the_one_known_difference_is_a_whole_number_written_with_a_point(tmp_path: Path) -> None:
    # JSON Schema calls 2000.0 an integer; the loader refuses it, because a file should say what it means.
    path = tmp_path / "fleet.yaml"
    path.write_text((HERE / "good/smallest.yaml").read_text().replace("gid: 2000", "gid: 2000.0"))
    VALIDATOR.validate(instance(path))
    with pytest.raises(FleetError, match=r"gid is 2000\.0\. It must be a whole number"):
        load(path)
