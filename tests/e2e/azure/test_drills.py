"""The drills in which a cloud does something, on a control plane in Azure.

The end of a machine and its successor, which the engine makes; the balancer's checks; bundles and snapshots in an
account; keys in a vault; rolls. What drills do by shells and by the API alone is in test_drills.py.
"""

import sys

import pytest

from tests.e2e.test_drills import Drills, drilled, held, table
from tests.support.cloud import Cloud

OWN = ("machine-terminated", "volume-lost", "rolled", "bundle-tampered", "quorum-lost", "everything-lost")
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def drills(in_azure: Cloud) -> Drills:
    return drilled(in_azure, *OWN)


@pytest.mark.parametrize("name", OWN)
def test_what_each_breaks_comes_back(drills: Drills, name: str) -> None:
    held(drills, name)


def test_a_deleted_machine_comes_back_as_the_same_members(drills: Drills) -> None:
    facts = held(drills, "machine-terminated")
    assert facts["same_members"]
    assert facts["new"] != facts["old"]


def test_a_bundle_that_was_tampered_with_is_not_booted(drills: Drills) -> None:
    facts = held(drills, "bundle-tampered")
    assert "is missing or changed" in facts["said"]
    assert "stopped at signature" in facts["unsigned"]


def test_a_roll_under_writes_fails_none_and_loses_no_quorum(drills: Drills) -> None:
    facts = held(drills, "rolled")
    assert len(facts["replaced"]) == 5
    assert facts["away_at_once"] < 2


def test_a_lost_quorum_goes_back_to_the_survivor(drills: Drills) -> None:
    assert held(drills, "quorum-lost")["survivor"]
    assert drills["quorum-lost"]["lost"] > 0


def test_everything_lost_goes_back_to_the_snapshot_and_the_vault_has_the_keys(drills: Drills) -> None:
    facts = held(drills, "everything-lost")
    assert facts["machines"] == 5
    assert facts["encrypted_by"] == "key-1"
    assert "restored from the snapshot backups/main/main/" in facts["frozen"]
    assert drills["everything-lost"]["lost"] >= 30


def test_no_drill_was_left_out_and_each_recovery_time_is_told(
    drills: Drills, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        sys.stdout.write("\n" + table(drills) + "\n")
    assert set(drills) == set(OWN)
