"""An hour of notes: what is common to pods is written once, nothing twice, and nothing is too large for a ConfigMap."""

import base64
import random

import pytest

from components.addons import autoscaler_notes
from landbridge.autoscaler import notes
from services.autoscaler import hours
from services.autoscaler.causes import Cause
from services.autoscaler.hours import Hour, Waiting

THEN = 1_790_000_000.0


def waits(name: str, code: str = "undecided", text: str = "") -> Waiting:
    return Waiting("research", name, "Job/train", "shape", {"cpu": "1"}, {}, "", [Cause(code, text, "west-gpu-a")])


def test_pods_that_wait_alike_are_one_wait_with_the_newest_sentence() -> None:
    hour = Hour(1)
    assert hour.see([waits("a", text="1 of 3"), waits("b", text="1 of 3")], THEN)
    assert not hour.see([waits("a", text="2 of 3")], THEN + 10), "nothing new"
    assert hour.see([waits("a", "coming")], THEN + 20)
    assert hour.see([waits("a", "coming"), waits("c", "coming")], THEN + 30), "another pod"
    (wait,) = hour.waits.values()
    assert wait["pods"] == {"a": [THEN, THEN + 30], "b": [THEN, THEN], "c": [THEN + 30, THEN + 30]}
    assert [(one["from"], one["to"], one["causes"][0]["code"]) for one in wait["times"]] == [
        (THEN, THEN + 10, "undecided"),
        (THEN + 20, THEN + 30, "coming"),
    ]
    assert wait["times"][0]["causes"] == [{"code": "undecided", "text": "2 of 3", "group": "west-gpu-a"}]


def test_who_waits_again_later_waits_a_second_time() -> None:
    hour = Hour(1)
    for at in (THEN, THEN + 1000, THEN + 2000):
        assert hour.see([waits("a")], at)
    assert sorted(wait["pods"]["a"] for wait in hour.waits.values()) == [
        [at, at] for at in (THEN, THEN + 1000, THEN + 2000)
    ]


def test_a_long_wait_is_one() -> None:
    hour = Hour(1)
    for seconds in range(0, 2000, 100):
        hour.see([waits("a")], THEN + seconds)
    (wait,) = hour.waits.values()
    assert wait["pods"]["a"] == [THEN, THEN + 1900]


def test_a_decision_is_written_once_in_the_order_of_time_and_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hours, "MOST_DECISIONS", 3)
    hour, lines = Hour(1), [{"at": f"2026-11-22T13:40:0{n}.000000Z", "decision": "grow"} for n in range(5)]
    assert hour.decide([lines[1], lines[0]])
    assert not hour.decide(lines[:2])
    assert hour.decisions == lines[:2]
    assert hour.decide(lines)
    assert hour.decisions == lines[2:]
    assert not hour.decide(lines), "or it would be written for ever"


def test_what_is_written_is_read_again() -> None:
    hour = Hour(1)
    hour.see([waits("a")], THEN)
    hour.decide([{"at": "2026-11-22T13:40:00.000000Z", "decision": "grow"}])
    assert hours.decoded(hours.encoded(hour)) == hour
    with pytest.raises(ValueError, match=r"notes\.json\.gz"):
        hours.decoded({hours.FILE: "bm8="})


def burst(pods: int, job: int = 0) -> list[Waiting]:
    names = random.Random(job)
    return [waits(f"train-{names.randrange(36**5):05x}")._replace(owner=f"Job/{job}") for _ in range(pods)]


def size(hour: Hour) -> int:
    (content,) = hours.encoded(hour).values()
    return len(base64.b64decode(content))


def test_a_burst_of_ten_thousand_pods_takes_a_tenth_of_the_room() -> None:
    hour, pods = Hour(1), burst(10_000)
    hour.see(pods, THEN)
    hour.see(pods, THEN + 60)
    assert size(hour) < hours.LARGEST_BYTES / 10


def test_what_is_too_large_loses_its_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hours, "LARGEST_BYTES", 20_000)
    hour = Hour(1)
    for job in range(8):
        hour.see(burst(1000, job), THEN + 60 * job)
    assert size(hour) <= 20_000
    owners = {str(wait["owner"]) for wait in hour.waits.values()}
    assert "Job/7" in owners
    assert "Job/0" not in owners


def test_the_add_on_the_service_and_the_command_line_speak_of_the_same() -> None:
    assert autoscaler_notes.PLACES == hours.PLACES == len(autoscaler_notes.names())
    assert (autoscaler_notes.LABEL, autoscaler_notes.VALUE) == (hours.LABEL, hours.VALUE)
    assert notes.FILE == hours.FILE
    places = {Hour(number).place for number in range(100, 100 + hours.PLACES)}
    assert places == set(range(hours.PLACES)), "an hour takes the place of the one before a day and more"
