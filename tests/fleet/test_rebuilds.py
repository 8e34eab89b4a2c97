"""fleet.rebuilt.yaml: written and read back the same, damage is told with its line, and it fits the stack that stands."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.rebuilds import Origin, load, of, rebuilds_path, refusals, render, write

WHEN = datetime(2026, 11, 21, 16, 0, 1, tzinfo=UTC)
MAIN = Origin(
    lost="us-west-2",
    region="us-east-1",
    secret="example/main/recovery-1f2e3d4c",
    snapshot="copies/us-west-2/main/main/2026-11-21T154500Z-4711.db",
    issuer="https://example-main-issuer.s3.us-west-2.amazonaws.com",
    generations={"kubernetes": (1, 2), "encryption": (1,)},
    restored=WHEN,
)
ORIGINS = {"main": MAIN, "a": MAIN.model_copy(update={"restored": None})}
TEXT = """\
# What clusters were rebuilt from. Written by `landbridge cluster rebuild`: commit it, never edit it.
a:
  lost: us-west-2
  region: us-east-1
  secret: example/main/recovery-1f2e3d4c
  snapshot: copies/us-west-2/main/main/2026-11-21T154500Z-4711.db
  issuer: https://example-main-issuer.s3.us-west-2.amazonaws.com
  generations:
    encryption: [1]
    kubernetes: [1, 2]
main:
  lost: us-west-2
  region: us-east-1
  secret: example/main/recovery-1f2e3d4c
  snapshot: copies/us-west-2/main/main/2026-11-21T154500Z-4711.db
  issuer: https://example-main-issuer.s3.us-west-2.amazonaws.com
  generations:
    encryption: [1]
    kubernetes: [1, 2]
  restored: 2026-11-21T16:00:01+00:00
"""


def test_it_lies_beside_the_fleet_file() -> None:
    assert rebuilds_path(Path("/x/fleet.yaml")) == Path("/x/fleet.rebuilt.yaml")


def test_it_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "fleet.rebuilt.yaml"
    assert load(path) == {}
    write(path, ORIGINS)
    assert path.read_text() == TEXT == render(ORIGINS)
    assert load(path) == ORIGINS
    assert [file.name for file in tmp_path.iterdir()] == ["fleet.rebuilt.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("lost: us-west-2", "gone: us-west-2", "fleet.rebuilt.yaml:"),
        (
            "kubernetes: [1, 2]",
            "kubernetes: [one]",
            "fleet.rebuilt.yaml:10: a.generations.kubernetes.0: Input should be",
        ),
        (
            "    encryption: [1]\n    kubernetes: [1, 2]\n",
            "    {}\n",
            "fleet.rebuilt.yaml:8: a.generations: Dictionary",
        ),
        ("a:\n", "<<<<<<< ours\na:\n", "fleet.rebuilt.yaml:"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "fleet.rebuilt.yaml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(FleetError) as caught:
        load(path)
    assert str(caught.value).startswith(told)


def test_it_counts_for_the_region_that_it_names_alone(tmp_path: Path) -> None:
    write(tmp_path / "fleet.rebuilt.yaml", {"main": MAIN})
    fleet = tmp_path / "fleet.yaml"
    assert of(fleet, "main", "us-east-1") == MAIN
    assert of(fleet, "main", "eu-west-1") is None
    assert of(fleet, "other", "us-east-1") is None


@pytest.mark.parametrize(
    ("stands", "published", "origin", "told"),
    [
        (None, None, None, ""),
        (None, None, MAIN, ""),
        ("us-east-1", None, None, ""),  # of a version that did not publish it
        ("us-east-1", "", None, ""),
        ("us-east-1", MAIN.secret, MAIN, ""),
        ("us-west-2", "", None, "`landbridge cluster rebuild main`"),
        ("us-west-2", "", MAIN, "`landbridge cluster rebuild main`"),
        (
            "us-east-1",
            MAIN.secret,
            None,
            "was rebuilt from example/main/recovery-1f2e3d4c and fleet.rebuilt.yaml does not",
        ),
        ("us-east-1", "", MAIN, "was born here and fleet.rebuilt.yaml says it was rebuilt from example/main/recovery-"),
        ("us-east-1", "other", MAIN, "was rebuilt from other and fleet.rebuilt.yaml says it was rebuilt from example"),
    ],
)
def test_a_stack_neither_moves_nor_changes_its_keys(
    stands: str | None, published: str | None, origin: Origin | None, told: str
) -> None:
    found = list(refusals("main", "us-east-1", stands, published, origin))
    assert len(found) == bool(told)
    assert told in "".join(found)
