"""Every drill on one whole control plane: what breaks comes back, and no acknowledged write is lost but where it must be."""

import json
import sys
from typing import Any

import pytest

from landbridge.drill.run import DRILLS
from tests.support.cloud import Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
Drills = dict[str, dict[str, Any]]
LOSE = {name for name, drill in DRILLS.items() if drill.loses}
# The goal for all on a quiet machine is 300 s in sum; a busy one is no reason to fail.
SECONDS = 1500


def drilled(cloud: Cloud, *names: str) -> Drills:
    """One after another; without names all of them."""
    process = cloud.start("drill", *names, "--local", "--json")
    out, err = process.communicate(timeout=SECONDS)
    sys.stdout.write(err)  # for whoever runs it with -s, and beside a failure
    return {one["drill"]: one for one in json.loads(out)["drills"]}


@pytest.fixture(scope="module")
def drills(in_aws: Cloud) -> Drills:
    return drilled(in_aws)


def held(drills: Drills, name: str) -> dict[str, Any]:
    assert name in drills, f"it did not run; these did: {', '.join(drills)}"
    drill = drills[name]
    assert drill["problem"] == "", drill["problem"]
    assert drill["failed"] == 0
    assert drill["acknowledged"] > 25
    if name not in LOSE:
        assert drill["lost"] == 0
    return dict(drill["facts"])


def table(drills: Drills) -> str:
    rows = [f"{'drill':22}{'recovery s':>12}{'longest write s':>17}{'acknowledged':>14}{'lost':>6}"]
    rows += [
        f"{name:22}{one['seconds']:12.1f}{one['waited']:17.1f}{one['acknowledged']:14}{one['lost']:6}"
        for name, one in drills.items()
    ]
    return "\n".join(rows)


def test_the_leaders_death_costs_an_election(drills: Drills) -> None:
    held(drills, "leader-killed")
    assert drills["leader-killed"]["waited"] < 30


def test_a_terminated_machine_comes_back_as_the_same_members(drills: Drills) -> None:
    facts = held(drills, "machine-terminated")
    assert facts["same_members"]
    assert facts["new"] != facts["old"]


def test_a_lost_disk_makes_a_new_member(drills: Drills) -> None:
    facts = held(drills, "volume-lost")
    assert facts["new_member"] != facts["old_member"]


def test_a_roll_under_writes_fails_none_and_loses_no_quorum(drills: Drills) -> None:
    facts = held(drills, "rolled")
    assert len(facts["replaced"]) == 5
    assert facts["away_at_once"] < 2


def test_a_lost_quorum_goes_back_to_the_survivor_and_reports_the_gap(drills: Drills) -> None:
    facts = held(drills, "quorum-lost")
    assert facts["survivor"]
    assert drills["quorum-lost"]["lost"] > 0
    assert "revisions" in drills["quorum-lost"]["gap"]


def test_everything_lost_goes_back_to_the_snapshot_and_names_each_lost_write(drills: Drills) -> None:
    facts = held(drills, "everything-lost")
    assert facts["age_seconds"] < 15 * 60
    assert facts["machines"] == 5
    assert facts["encrypted_by"] == "key-1"
    assert facts["recovery_point_minutes"] <= 15
    assert facts["kept"].startswith("restores/main/main/")
    assert "restored from the snapshot backups/main/main/" in facts["frozen"]
    assert drills["everything-lost"]["lost"] >= 30
    assert drills["everything-lost"]["gap"].startswith(f"{drills['everything-lost']['lost']} writes (numbers ")


def test_a_full_quota_is_freed(drills: Drills) -> None:
    facts = held(drills, "quota-filled")
    assert "NOSPACE" in facts["told"]
    assert "database space exceeded" in facts["refused"]


def test_without_events_main_and_the_api_go_on(drills: Drills) -> None:
    held(drills, "events-lost")


def test_an_expired_certificate_is_named(drills: Drills) -> None:
    facts = held(drills, "certificate-expired")
    assert "The client certificate landbridge-drill expired on" in facts["diagnosis"]


def test_a_tampered_bundle_is_not_booted(drills: Drills) -> None:
    facts = held(drills, "bundle-tampered")
    assert "stopped at files" in facts["said"]
    assert "is missing or changed" in facts["said"]
    assert "stopped at signature" in facts["unsigned"]


def test_no_drill_was_left_out_and_each_recovery_time_is_told(
    drills: Drills, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        sys.stdout.write("\n" + table(drills) + "\n")
    assert set(drills) == set(DRILLS)
