"""One line of the fleet file changes, and nothing else of it."""

from pathlib import Path

import pytest

from fleet.errors import FleetError
from landbridge.errors import UsageError
from landbridge.kubernetes_update.fleet_line import write

FLEET = """\
# Ours.
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b, c]}
clusters:
  main:
    region: us-west-2   # at home
    kubernetes: 1.35.8  # since spring
teams:
  ops: {gid: 2000}
"""


def test_the_version_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    assert write(file, "main", "1.36.2") == "fleet.yaml:12"
    assert file.read_text() == FLEET.replace("1.35.8", "1.36.2")


def test_in_a_line_with_others(tmp_path: Path) -> None:
    file, line = tmp_path / "fleet.yaml", "  main: {region: us-west-2, kubernetes: 1.35.8}"
    before, _, rest = FLEET.partition("  main:\n")
    text = f"{before}{line}\n{rest.partition('since spring')[2].lstrip()}"
    file.write_text(text)
    assert write(file, "main", "1.36.2") == "fleet.yaml:10"
    assert file.read_text() == text.replace("1.35.8", "1.36.2")


def test_a_line_that_two_clusters_share_is_left_and_the_remedy_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    other = FLEET.replace("  main:\n", "  main: &like\n").replace("teams:", "  second:\n    <<: *like\nteams:")
    file.write_text(other)
    with pytest.raises(UsageError, match=r"fleet.yaml:12: the same line is that of second, too"):
        write(file, "main", "1.36.2")
    assert file.read_text() == other
    own = other.replace("<<: *like", "<<: *like\n    kubernetes: 1.35.8")
    file.write_text(own)
    assert write(file, "second", "1.36.2") == "fleet.yaml:15"


def test_one_that_does_not_stand_there_is_to_be_written_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET.replace("  main:\n", "  main: &like\n").replace("teams:", "  second:\n    <<: *like\nteams:"))
    with pytest.raises(UsageError, match=r"Write kubernetes: 1.36.2 by hand"):
        write(file, "second", "1.36.2")


def test_what_the_fleet_file_would_be_refused_for_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    with pytest.raises(FleetError, match=r"fleet.yaml:12: .*1\.99\.0"):
        write(file, "main", "1.99.0")
    assert file.read_text() == FLEET
