"""What is written, where, and of which time it tells; what waits while the bucket or the API server is away."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest

from evidence.observation import Observation, moment, read_line
from evidence.record import trimmed
from services.recorder.audit_log import FILL_SECONDS, AuditLog
from services.recorder.book import Book
from services.recorder.contact import Contact
from services.recorder.errors import StoreError
from services.recorder.merging import Merging
from services.recorder.parts import Span, packed, watched
from services.recorder.settings import Settings
from services.recorder.where import LATELY_SECONDS, Where
from services.recorder.writing import QUIET_SECONDS, Writing
from tests.evidence.test_seen import terminated

AT = moment("2026-11-28T10:00:00Z")
TOLD = Settings("main", "s3://example", ["vision", "speech"], queues=True, audit=["audit/main/api-0/"], machines=[])
ALL, VISION, SPEECH = "records/main/", "team-records/vision/main/", "team-records/speech/main/"


class Memory:
    """A bucket."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.prefixes: list[str] = []
        self.away = False

    def _there(self) -> None:
        if self.away:
            raise StoreError("PutObject s3://example/x: it does not answer")

    def put(self, key: str, data: bytes) -> None:
        self._there()
        self.objects[key] = data

    def put_new(self, key: str, data: bytes) -> bool:
        self._there()
        if key in self.objects:
            return False
        self.objects[key] = data
        return True

    def get(self, key: str) -> bytes:
        self._there()
        return self.objects[key]

    def listed(self, prefix: str) -> list[str]:
        self._there()
        self.prefixes.append(prefix)
        return sorted(key for key in self.objects if key.startswith(prefix))

    def delete(self, key: str) -> None:
        self._there()
        del self.objects[key]

    def seen(self, below: str) -> list[Observation]:
        lines = [line for key in self.listed(below) for line in gzip.decompress(self.objects[key]).splitlines()]
        return [read_line(line) for line in lines]


class Bed:
    def __init__(self, **more: Any) -> None:
        self.now = AT
        self.book, self.contact, self.store = Book(), Contact(lambda: self.now), Memory()
        self.where = Where(lambda: AT)
        self.writing = Writing(self.book, self.contact, self.store, TOLD, "recorder-1", self.where.spaces, AT, **more)

    def write(self, seconds: float) -> None:
        self.now = AT + seconds
        self.writing.step(self.now)

    def saw(self, about: str, code: str = "exited", at: float = AT, text: str = "") -> None:
        self.book.add(Observation(at, "kubelet", about, code, text))


def abouts(seen: Sequence[Observation]) -> list[str]:
    return sorted(one.about for one in seen if one.code not in ("watched", "gap"))


def spans(seen: Sequence[Observation], code: str = "watched") -> list[tuple[float, float]]:
    return [(moment(one.facts["since"]) - AT, moment(one.facts["until"]) - AT) for one in seen if one.code == code]


def test_each_team_has_its_own_and_operators_have_all() -> None:
    bed = Bed()
    for about in ("pod/team-vision/a", "pod/team-speech/b", "pod/kube-system/c", "jobset/team-vision/run"):
        bed.saw(about)
    bed.write(60)
    assert abouts(bed.store.seen(ALL)) == [
        "jobset/team-vision/run",
        "pod/kube-system/c",
        "pod/team-speech/b",
        "pod/team-vision/a",
    ]
    assert abouts(bed.store.seen(VISION)) == ["jobset/team-vision/run", "pod/team-vision/a"]
    assert abouts(bed.store.seen(SPEECH)) == ["pod/team-speech/b"]
    assert sorted(bed.store.objects) == [
        f"{folder}2026-11-28/100100-recorder-1.jsonl.gz" for folder in (ALL, SPEECH, VISION)
    ]


def test_a_team_of_which_nothing_is_new_has_a_part_every_ten_minutes() -> None:
    bed = Bed()
    for n in range(1, 22):
        bed.saw("pod/team-vision/a", text=str(n))
        bed.write(60 * n)
    assert spans(bed.store.seen(SPEECH)) == [(0, 600), (600, 1200)]
    assert len(spans(bed.store.seen(VISION))) == 21


def test_what_a_node_did_is_told_to_those_with_pods_there() -> None:
    bed = Bed()
    pod = {"metadata": {"uid": "u1", "namespace": "team-vision"}, "spec": {"nodeName": "gpu-1"}}
    bed.where.pod(pod)
    bed.saw("node/gpu-1", "rebooted")
    bed.write(60)
    assert (abouts(bed.store.seen(VISION)), abouts(bed.store.seen(SPEECH))) == (["node/gpu-1"], [])
    bed.where.pod_left(pod)
    assert bed.where.spaces("gpu-1") == {"team-vision"}, "lately"
    bed.where.now = lambda: AT + LATELY_SECONDS + 1
    assert bed.where.spaces("gpu-1") == set()


def test_parts_tell_of_all_time_without_a_gap() -> None:
    bed = Bed()
    for n, busy in ((1, True), (2, False), (11, False), (12, True)):
        if busy:
            bed.saw("pod/team-vision/a", text=str(n))
        bed.write(n * 60)
    assert spans(bed.store.seen(ALL)) == [(0, 60), (60, 11 * 60), (11 * 60, 12 * 60)]
    assert QUIET_SECONDS == 600


def test_parts_of_one_second_are_several_and_are_named_after_the_time_again() -> None:
    bed = Bed()
    for n in range(3):
        bed.saw("pod/team-vision/a", text=str(n))
        bed.write(60 + n / 10)
    for n in range(50):
        bed.write(61 + n / 100)
    bed.saw("pod/team-vision/a", text="later")
    bed.write(70)
    names = [key.rpartition("/")[2][:6] for key in bed.store.listed(VISION)]
    assert names == ["100100", "100101", "100102", "100110"]


def test_while_the_api_server_is_silent_nothing_is_said_of_that_time() -> None:
    bed = Bed()
    bed.contact.begins("/pods")
    bed.now = AT + 50
    bed.contact.heard("/pods")
    bed.contact.broke("/pods")
    bed.saw("pod/team-vision/a")
    bed.write(60)
    bed.saw("pod/team-vision/b")
    bed.write(120)
    bed.now = AT + 170
    bed.contact.heard("/pods")
    bed.saw("pod/team-vision/c")
    bed.write(180)
    assert spans(bed.store.seen(ALL)) == [(0, 50), (50, 50), (50, 180)], "filled in when it answered again"
    assert len(bed.store.listed(ALL)) == 3


def test_a_bucket_that_is_away_has_all_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    bed = Bed()
    bed.store.away = True
    for n in range(10):
        bed.saw(f"pod/team-vision/{n}")
        bed.write(60 * (n + 1))
    assert bed.store.objects == {}
    bed.store.away = False
    bed.write(660)
    assert abouts(bed.store.seen(VISION)) == [f"pod/team-vision/{n}" for n in range(10)]
    assert spans(bed.store.seen(VISION)) == [(60 * n, 60 * (n + 1)) for n in range(10)]
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "recorder: PutObject s3://example/x: it does not answer",
        "recorder: what had waited is in the bucket",
    ]


def test_what_finds_no_room_is_a_gap() -> None:
    bed = Bed(most_unsent_bytes=2000)
    bed.store.away = True
    for n in range(30):
        bed.saw(f"pod/team-vision/{n}")
        bed.write(60 * (n + 1))
    bed.store.away = False
    bed.write(60 * 31)
    kept = spans(bed.store.seen(ALL))
    assert kept[-1] == (29 * 60, 30 * 60)
    assert 0 < len(kept) < 10, "the oldest went, and nothing tells of their time"


def test_a_book_that_is_full_says_so() -> None:
    bed = Bed()
    bed.book.most = 3
    for n in range(5):
        bed.saw(f"pod/team-vision/{n}")
    bed.write(60)
    assert len(abouts(bed.store.seen(VISION))) == 3
    assert spans(bed.store.seen(VISION), "gap") == [(0, 60)]


def test_an_hour_becomes_one_file_and_a_day_does_with_each_line_once() -> None:
    store = Memory()
    for replica in ("a", "b"):
        bed = Bed()
        bed.store, bed.writing.store, bed.writing.replica = store, store, replica
        bed.saw("pod/team-vision/a")
        bed.saw("pod/team-speech/a")
        bed.write(60)
    before = store.seen(ALL)
    merging = Merging(store, [ALL, VISION])
    merging.step(moment("2026-11-28T11:04:00Z"))
    assert len(store.listed(ALL)) == 2, "parts may come late"
    merging.step(moment("2026-11-28T11:06:00Z"))
    assert store.listed(ALL) == ["records/main/2026-11-28/10.jsonl.gz"]
    assert len(store.seen(ALL)) == len(before) - 2
    late = packed([watched(Span(1, 2), "b")])
    store.put("records/main/2026-11-28/100900-b.jsonl.gz", late)
    merging.step(moment("2026-11-28T12:06:00Z"))
    assert store.objects.pop("records/main/2026-11-28/100900-b.jsonl.gz") == late, "it waits for the day's end"
    merging.step(moment("2026-11-29T00:06:00Z"))
    assert store.listed(ALL) == ["records/main/2026-11-28/10.jsonl.gz"]
    merging.step(moment("2026-11-29T01:00:00Z"))
    assert store.listed(ALL) == ["records/main/2026-11-28.jsonl.gz"]
    assert store.listed(VISION) == ["team-records/vision/main/2026-11-28.jsonl.gz"]
    assert len(store.listed(SPEECH)) == 2, "of another's folder nothing is touched"
    assert len(store.seen(ALL)) == len(before) - 2
    assert {one.line() for one in store.seen(ALL)} == {one.line() for one in before}


def test_parts_that_another_replica_makes_a_file_of_just_now_are_no_trouble() -> None:
    class Quicker(Memory):
        """The other one has read them, and takes them away while this one reads."""

        def get(self, key: str) -> bytes:
            self.objects[made] = self.objects.pop(key)
            raise StoreError(f"GetObject s3://example/{key}: NoSuchKey")

    made, store = "records/main/2026-11-28/10.jsonl.gz", Quicker()
    store.put("records/main/2026-11-28/100500-b.jsonl.gz", b"")
    Merging(store, [ALL]).step(moment("2026-11-28T11:06:00Z"))
    assert store.listed(ALL) == [made]
    store.objects.clear()
    made = "elsewhere"
    store.put("records/main/2026-11-28/100500-b.jsonl.gz", b"")
    with pytest.raises(StoreError, match="NoSuchKey"):
        Merging(store, [ALL]).step(moment("2026-11-28T11:06:00Z"))


def test_a_day_that_has_its_file_keeps_it() -> None:
    store = Memory()
    bed = Bed()
    bed.store, bed.writing.store = store, store
    bed.saw("pod/team-vision/a")
    bed.write(60)
    store.objects["records/main/2026-11-28.jsonl.gz"] = b"made by the other"
    Merging(store, [ALL]).step(moment("2026-11-29T01:00:00Z"))
    assert store.objects["records/main/2026-11-28.jsonl.gz"] == b"made by the other"
    assert len(store.listed("records/main/2026-11-28/")) == 1, "late parts are read beside it"


def entry(verb: str, user: str, name: str = "train-0", **what: str) -> str:
    told = {"resource": "pods", "namespace": "team-vision", "name": name, "uid": "u1", **what}
    return json.dumps(
        {
            "verb": verb,
            "user": {"username": user},
            "sourceIPs": ["10.0.0.9"],
            "objectRef": told,
            "responseStatus": {"code": 200},
            "requestReceivedTimestamp": "2026-11-28T10:00:00.000000Z",
        },
        separators=(",", ":"),
    )


def test_who_deleted_what_comes_from_the_audit_log() -> None:
    bed = Bed()
    lines = [
        entry("get", "ann"),
        entry("delete", "ann"),
        entry("delete", "system:node:gpu-1"),
        entry("create", "ann", subresource="eviction"),
        "{half a li",
    ]
    folder = TOLD.audit[0]
    bed.store.objects[f"{folder}2026-11-28/095000-x.jsonl.gz"] = gzip.compress("\n".join(lines).encode())
    bed.store.objects[f"{folder}2026-11-28/090000-x.jsonl.gz"] = gzip.compress(lines[1].encode())
    bed.store.objects[f"{folder}2026-11-28/095500-x.jsonl.gz"] = b"no gzip"
    log = AuditLog(bed.store, bed.book, TOLD.audit, AT)
    log.step(AT + 60)
    log.step(AT + 120)
    found = bed.book.take().seen
    assert [(one.code, one.facts["user"], one.facts["from"]) for one in found] == [
        ("deleted-by-person", "ann", "10.0.0.9"),
        ("evicted-by-person", "ann", "10.0.0.9"),
    ]
    log.step(AT + 180)
    assert bed.book.take().seen == [], "each part once"


def test_what_ended_while_nobody_watched_is_found_in_the_audit_log() -> None:
    bed = Bed()
    pod = terminated(7)
    whole = json.loads(entry("delete", "ann"))
    whole["objectRef"] |= {"namespace": "team-a"}
    whole["responseObject"] = pod
    folder = TOLD.audit[0]
    bed.store.objects[f"{folder}2026-11-28/100030-x.jsonl.gz"] = gzip.compress(json.dumps(whole).encode())
    log = AuditLog(bed.store, bed.book, TOLD.audit, AT + 3600)
    log.fill(trimmed(pod, "pod"), AT, AT + 90)
    log.fill({"metadata": {"name": "another", "namespace": "team-a", "uid": "u9"}, "spec": {}}, AT, AT + 90)
    log.step(AT + 91)
    assert bed.book.take().seen == [], "API machines bring their log a minute late"
    log.step(AT + 90 + FILL_SECONDS)
    assert all("/2026-" in prefix for prefix in bed.store.prefixes), "a year of the log is never listed at once"
    assert [one.code for one in bed.book.take().seen] == ["exited"]
    assert log.unseen == []


def test_a_line_that_was_dead_before_it_broke_was_not_heard_since() -> None:
    now = AT
    contact = Contact(lambda: now)
    contact.begins("/pods")
    contact.heard("/pods")
    now += 30
    contact.broke("/pods")
    assert contact.again("/pods") == AT + 30, "it had said nothing for half a minute, as it may"
    contact.heard("/pods")
    now += 200
    contact.broke("/pods")
    assert (contact.again("/pods"), contact.until()) == (AT + 30, AT + 30)
