"""When announced work may begin: windows in time zones, over midnight and over changes of the clock, and frozen days."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fleet import windows
from fleet.errors import FleetError
from fleet.loader import load
from fleet.model import Maintenance, Window

ROOT = Path(__file__).parents[2]
NIGHT = Window(begins="22:00", ends="04:00", zone="America/New_York")
WEEKEND = Window(days=["sat", "sun"], begins="08:00", ends="18:00", zone="Europe/Berlin")


def opens(*given: Window, at: str, frozen: tuple[str, ...] = ()) -> str:
    found = windows.opens(given, frozen, datetime.fromisoformat(at))
    return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M}" if found else ""


@pytest.mark.parametrize(
    ("given", "at", "opened"),
    [
        ((), "2026-12-01T10:00Z", "2026-12-01T10:00"),
        # A Tuesday: on Saturday at eight in Berlin.
        ((WEEKEND,), "2026-12-01T10:00Z", "2026-12-05T07:00"),
        ((WEEKEND,), "2026-12-05T16:59Z", "2026-12-05T16:59"),
        ((WEEKEND,), "2026-12-05T17:00Z", "2026-12-06T07:00"),
        # Summer: an hour earlier.
        ((WEEKEND,), "2026-07-03T10:00Z", "2026-07-04T06:00"),
        # Over midnight: the night that began yesterday is still on.
        ((NIGHT,), "2026-12-01T08:59Z", "2026-12-01T08:59"),
        ((NIGHT,), "2026-12-01T09:00Z", "2026-12-02T03:00"),
        # The clock went back at two that night, and four came an hour later.
        ((NIGHT,), "2026-11-01T08:30Z", "2026-11-01T08:30"),
        ((NIGHT,), "2026-11-01T09:00Z", "2026-11-02T03:00"),
        ((NIGHT, WEEKEND), "2026-12-05T09:30Z", "2026-12-05T09:30"),
        ((Window(days=["wed"]),), "2026-12-01T10:00Z", "2026-12-02T00:00"),
    ],
)
def test_the_next_moment_is_told(given: tuple[Window, ...], at: str, opened: str) -> None:
    assert opens(*given, at=at) == opened


def test_on_frozen_days_nothing_begins() -> None:
    assert opens(at="2026-12-24T10:00Z", frozen=("2026-12-24",)) == "2026-12-25T00:00"
    holidays = ("2026-12-24/2026-12-31", "2027-01-01")
    assert opens(at="2026-12-24T10:00Z", frozen=holidays) == "2027-01-02T00:00"
    assert opens(WEEKEND, at="2026-12-24T10:00Z", frozen=holidays) == "2027-01-02T07:00"
    assert opens(at="2026-12-23T23:59Z", frozen=holidays) == "2026-12-23T23:59"
    assert opens(at="2026-12-24T10:00Z", frozen=("2026-01-01/2029-01-01",)) == ""


def test_a_pool_s_own_windows_go_before_those_of_its_place() -> None:
    told = Maintenance(windows={"lab": [WEEKEND], "site-gpu": [NIGHT]})
    assert windows.of(told, "site-gpu", "lab") == [NIGHT]
    assert windows.of(told, "other", "lab") == [WEEKEND]
    assert windows.of(told, "other", "us-west-2") == ()


FLEET = """\
fleet: small
owner: ops
domain: small.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions: {us-west-2: {cloud: aws, zones: [a]}}
teams: {ops: {gid: 2000}}
maintenance:
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "windows: {lab: [{}]}",
            "maintenance has windows for lab, which is no pool, no site and no region. Known: us-west-2",
        ),
        ('windows: {us-west-2: [{begins: "08:00", ends: "08:00"}]}', "For a whole day leave both out"),
        (
            "windows: {us-west-2: [{zone: Mars/Olympus}]}",
            "Mars/Olympus is no time zone. Write one such as Europe/Berlin",
        ),
        ('frozen: ["2026-02-30"]', "2026-02-30 is no day and no two of them. Write 2026-12-24"),
        ("frozen: [2026-12-24]", 'It must be text, in quotes: "2026-12-24"'),
        ("frozen: [2026-02-20/2026-02-10]", "ends before it begins. Write the first day first"),
        ("share: 0", "maintenance.share is 0"),
        ("windows: {us-west-2: [{days: [monday]}]}", "It must be 'mon', 'tue'"),
    ],
)
def test_what_no_calendar_has_is_named_with_its_line(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(f"{FLEET}  {text}\n")
    with pytest.raises(FleetError, match=r"fleet\.yaml:9: ") as error:
        load(file)
    assert says in str(error.value)


def test_a_day_that_yaml_itself_does_not_know_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(f"{FLEET}  frozen: [2026-02-30]\n")
    with pytest.raises(FleetError, match="it has a day that is none: day is out of range for month"):
        load(file)


def test_what_the_messages_say_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(
        f'{FLEET}  windows: {{us-west-2: [{{begins: "00:00", ends: "24:00", zone: Europe/Berlin}}]}}\n'
        '  frozen: ["2026-12-24", 2026-12-24/2027-01-02]\n'
    )
    assert load(file).maintenance.windows["us-west-2"][0].days == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def test_zones_are_known_where_the_system_has_none() -> None:
    """As in the container of services."""
    code = "from fleet.hours import time_zone; print(time_zone('Europe/Berlin'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONTZPATH": ""}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "Europe/Berlin", done.stderr
