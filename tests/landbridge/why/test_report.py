"""What a month's ends cost, from records of it; and the picture of that."""

from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from evidence.events import of_event
from evidence.observation import Observation
from landbridge.bars import MOST
from landbridge.why.picture import svg
from landbridge.why.report import NOBODY, Report, Row, of, report
from services.recorder.merging import Merging

from .recorded import BEGUN, Recorded, at

HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture
def month() -> Recorded:
    """Two ends with a cause, one without, one that is well, and one that ran over midnight."""
    made = Recorded()
    made.node("gpu-1")
    for name, code, hours in (("train-0", 7, 1), ("train-1", 7, 2), ("fine-0", 0, 2)):
        made.ended(name, code, hours * HOUR, phase="Failed" if code else "Succeeded")
        made.gone(name, hours * HOUR + 10)
        made.write(hours * HOUR + 60)
    made.pod("lost-0", "ADDED", run="lost", phase="Running")
    made.gone("lost-0", 3 * HOUR, run="lost")
    made.pod("night-0", "ADDED", run="night", phase="Running")
    made.write(3 * HOUR + 60)
    made.ended("night-0", 9, 20 * HOUR, run="night")
    made.write(20 * HOUR + 60)
    Merging(made.store, ["records/main/", "team-records/vision/main/"]).step(BEGUN + 2 * DAY)
    return made


def told(month: Recorded, team: str = "") -> tuple[Report, list[str]]:
    said: list[str] = []
    records = month.records(team)
    records.say = said.append
    return report(records, ""), said


@pytest.mark.parametrize("team", ["", "vision"])
def test_ends_are_counted_by_cause_with_their_hours(month: Recorded, team: str) -> None:
    found, said = told(month, team)
    assert (found.deaths, found.well, found.gpu_hours) == (4, 1, 8 * (1 + 2 + 3 + 20))
    assert found.causes == [Row("exited", 3, 184.0), Row("unknown", 1, 24.0)]
    assert found.teams == [Row("vision", 4, 208.0)]
    assert found.pools == [Row("west-gpu", 4, 208.0)]
    assert found.boards == []
    assert found.named == 0.75
    days = ("20 November, 1", "21 November, 2")
    assert said == [f"Looking through the records of {day} of 2 days" for day in days]
    assert found.as_json()["causes"][0] == {"name": "exited", "deaths": 3, "gpu_hours": 184.0}


def test_time_before_the_first_record_is_told_as_a_gap(month: Recorded) -> None:
    first, *_ = told(month)[0].gaps
    assert (first.since, first.until) == (month.records().since, datetime.fromtimestamp(BEGUN, UTC))


def test_a_board_that_failed_is_named_as_its_node_s_kernel_names_it() -> None:
    made = Recorded()
    made.node("gpu-1")
    made.pod("train-0", "ADDED", phase="Running")
    made.saw(said("GPUOffBus", "GPU 0000:3b:00: Xid 79, the GPU is not on its bus any more: it is lost"))
    made.ended("train-0", 134, 62)
    made.write(120)
    found = told(made)[0]
    assert (found.causes[0].name, found.boards) == (
        "gpu-off-bus",
        [Row("gpu-1 0000:3b:00", 1, round(8 * 62 / 3600, 2))],
    )


def said(reason: str, message: str) -> Observation:
    """As the node's own unit writes it."""
    event = {
        "metadata": {"name": "gpu-1.1", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": "gpu-1"},
        "reason": reason,
        "message": message,
        "lastTimestamp": at(60),
        "source": {"component": "kernel-monitor"},
    }
    found = of_event(event)
    assert found is not None
    return found


def test_nothing_at_all_is_a_report_too() -> None:
    found = of([], BEGUN, BEGUN + DAY, [])
    assert (found.deaths, found.named) == (0, 1.0)
    assert "0 deaths" in svg("main", found)


def test_the_picture_has_all_of_it(month: Recorded, tmp_path: Path) -> None:
    found = told(month)[0]
    text = svg("main", found)
    words = [one.text or "" for one in Xml.fromstring(text).iter() if one.tag.endswith("text")]
    for wanted in ("exited", "unknown", "vision", "west-gpu", "184.0 (3)"):
        assert wanted in words
    many = found._replace(causes=[Row(f"cause-{n}", 1, 40.0 - n) for n in range(MOST + 5)])
    assert "5 more" in svg("main", many)
    assert NOBODY not in text
