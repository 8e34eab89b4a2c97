"""fleet.pki.yaml: written and read back the same, and damage is told with its line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.rotations import Standing, load, render, rotations_path, write

WHEN = datetime(2026, 11, 21, 16, 0, 1, tzinfo=UTC)
ROTATIONS = {
    "main": {"kubernetes": Standing(generation=2, phase="issue", since=WHEN), "encryption": Standing(generation=3)},
    "a": {"etcd-clients": Standing(phase="back", since=WHEN, given_up=1)},
}
TEXT = """\
# Which generation of each key every cluster is at. Written by `landbridge pki rotate`: commit it, never edit it.
a:
  etcd-clients: {generation: 1, phase: back, since: 2026-11-21T16:00:01+00:00, given_up: 1}
main:
  encryption: {generation: 3, phase: steady}
  kubernetes: {generation: 2, phase: issue, since: 2026-11-21T16:00:01+00:00}
"""


def test_it_lies_beside_the_fleet_file() -> None:
    assert rotations_path(Path("/x/fleet.yaml")) == Path("/x/fleet.pki.yaml")


def test_it_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "fleet.pki.yaml"
    assert load(path) == {}
    write(path, ROTATIONS)
    assert path.read_text() == TEXT == render(ROTATIONS)
    assert load(path) == ROTATIONS
    assert [file.name for file in tmp_path.iterdir()] == ["fleet.pki.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("phase: back", "phase: drop", "fleet.pki.yaml:3: a.etcd-clients.phase: Input should be"),
        ("generation: 3", "generation: 0", "fleet.pki.yaml:5: main.encryption.generation: Input should be"),
        ("phase: issue, since", "phase: issue, until", "fleet.pki.yaml:6: main.kubernetes.until: Extra inputs"),
        ("a:\n", "<<<<<<< ours\na:\n", "fleet.pki.yaml:"),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "fleet.pki.yaml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(FleetError) as caught:
        load(path)
    assert str(caught.value).startswith(told)
