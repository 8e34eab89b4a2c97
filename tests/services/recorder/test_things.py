"""What of an object is news: once each, also when it is listed again, and what it was when it is gone."""

from typing import Any

from services.recorder import seeing
from services.recorder.book import Book
from services.recorder.things import MOST_SAID, UNSEEN, WAITS_SECONDS, Things
from tests.evidence.test_seen import container, ended, failed, pod, terminated

MINUTE = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 1795860100.0

    def __call__(self) -> float:
        return self.now


def codes(book: Book) -> list[str]:
    return sorted(one.code for one in book.take().seen)


def made() -> tuple[Things, Book, Clock]:
    book, clock = Book(), Clock()
    return Things(seeing.POD, book, now=clock), book, clock


def waits(text: str) -> dict[str, Any]:
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
    return pod({"phase": "Pending", "conditions": [told]})


def test_a_pod_that_does_well_is_recorded_when_it_is_gone() -> None:
    things, book, _ = made()
    things.changed("ADDED", pod({"phase": "Running"}))
    assert codes(book) == []
    things.changed("DELETED", pod({"phase": "Running"}))
    assert codes(book) == ["gone", "record"]
    assert things.live == {}


def test_an_end_is_news_once() -> None:
    things, book, _ = made()
    things.changed("MODIFIED", terminated(3))
    assert book.urgent.is_set(), "somebody will ask"
    assert codes(book) == ["exited", "record"]
    things.changed("MODIFIED", terminated(3))
    things.listed([things.keep(terminated(3))])
    assert codes(book) == []


def test_each_restart_is_news() -> None:
    things, book, _ = made()
    for n in (1, 2):
        one = {**container(running={}), "restartCount": n, "lastState": {"terminated": ended(n)}}
        things.changed("MODIFIED", pod({"phase": "Running", "containerStatuses": [one]}))
        assert codes(book) == ["exited", "record"]


def test_what_is_started_again_and_again_takes_no_more_memory() -> None:
    things, book, _ = made()
    for n in range(3 * MOST_SAID):
        one = {**container(running={}), "restartCount": n, "lastState": {"terminated": ended(1)}}
        things.changed("MODIFIED", pod({"phase": "Running", "containerStatuses": [one]}))
    (live,) = things.live.values()
    assert len(live.said) == MOST_SAID
    assert len([one for one in book.take().seen if one.code == "exited"]) == 3 * MOST_SAID


def test_a_wait_in_new_words_is_told_every_ten_minutes() -> None:
    things, book, clock = made()
    told = []
    for n in range(60):
        things.changed("MODIFIED", waits(f"0/{n} nodes are available"))
        told += [one.text for one in book.take().seen if one.code == "no-node"]
        clock.now += MINUTE / 2
    assert len(told) == 60 * MINUTE / 2 / WAITS_SECONDS


def test_what_went_unseen_is_told_as_that() -> None:
    things, book, _ = made()
    things.listed([things.keep(failed("Evicted", "The node was low on resource: memory."))])
    book.take()
    things.listed([])
    told = {one.code: one for one in book.take().seen}
    assert told["gone"].text == UNSEEN
    assert told["record"].facts["object"]["spec"]["nodeName"] == "gpu-1"


def test_records_have_what_others_know() -> None:
    book = Book()
    things = Things(seeing.POD, book, lambda one: {"pool": f"of {one['spec']['nodeName']}"})
    things.changed("MODIFIED", terminated(1))
    assert [one.facts["pool"] for one in book.take().seen if one.code == "record"] == ["of gpu-1"]


def test_what_has_no_time_has_that_of_its_sight() -> None:
    book, clock = Book(), Clock()
    things = Things(seeing.JOB_SET, book, now=clock)
    things.changed(
        "MODIFIED", {"metadata": {"name": "train", "namespace": "a", "uid": "u"}, "spec": {}, "status": {"restarts": 1}}
    )
    assert {one.at for one in book.take().seen} == {clock.now}
