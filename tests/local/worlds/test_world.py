"""A world in a folder: calls before their answers, pictures, and what a kill or a full disk leaves."""

import os
import pickle
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from local.worlds import journal, moment, world
from local.worlds.journal import DamagedError, Journal, records


class Pad:
    """A cloud that holds the calls it got, with what clock and chance said to each."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.notes: list[Any] = []
        cloud = world.Cloud("the pad", "1", self.call, lambda: self.notes, self.notes.extend, **more)
        self.kept = world.StoredWorld(cloud, folder)
        self.made = self.kept.restore()

    def call(self, word: str) -> world.Answer:
        note = (word, moment.urandom(8), moment.seconds())
        if word == "own":
            note = (word, os.getpid(), len(self.notes))
        if word == "key":
            held = moment.current()
            assert held
            held.repeatable = False
        self.notes.append(note)
        if word == "failing":
            raise LookupError(word)
        return world.Answer("200 OK", [], pickle.dumps(note))


def test_what_was_answered_is_there_again_with_its_time_and_chance(tmp_path: Path) -> None:
    first = Pad(tmp_path)
    answers = [first.kept.execute(word).body for word in "abc"]
    second = Pad(tmp_path)
    assert second.made == 3
    assert [pickle.dumps(note) for note in second.notes] == answers
    assert second.kept.strange == 0
    second.kept.execute("d")
    assert [note[0] for note in Pad(tmp_path).notes] == list("abcd")


@pytest.mark.parametrize("at", ["a", "c"])
def test_a_picture_takes_the_place_of_calls(tmp_path: Path, at: str) -> None:
    first = Pad(tmp_path)
    for word in "abc":
        first.kept.execute(word)
        if word == at:
            assert first.kept.picture()
    second = Pad(tmp_path)
    assert (second.made, second.notes) == (2 - "abc".index(at), first.notes)
    assert len(list(tmp_path.iterdir())) == 2  # the picture before, and its calls, are gone


def test_what_cannot_be_made_again_is_in_a_picture_before_its_answer(tmp_path: Path) -> None:
    first = Pad(tmp_path)
    first.kept.execute("a")
    first.kept.execute("key")
    assert Pad(tmp_path).made == 0


def test_no_picture_while_something_waits(tmp_path: Path) -> None:
    first = Pad(tmp_path, waits=lambda: True)
    first.kept.execute("key")
    assert Pad(tmp_path).made == 1


def test_a_call_that_failed_is_kept_with_what_it_changed(tmp_path: Path) -> None:
    first = Pad(tmp_path)
    with pytest.raises(LookupError):
        first.kept.execute("failing")
    second = Pad(tmp_path)
    assert (second.notes, second.kept.strange) == (first.notes, 0)


def test_a_full_disk_ends_the_process_before_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    def end(code: int) -> None:
        raise SystemExit(code)

    first = Pad(tmp_path)
    first.kept.execute("a")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        patch.setattr(os, "_exit", end)
        with pytest.raises(SystemExit):
            first.kept.execute("b")
    assert [note[0] for note in Pad(tmp_path).notes] == ["a"]


def test_a_picture_that_cannot_be_read_again_takes_no_calls_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = Pad(tmp_path)
    first.kept.execute("a")
    first.notes.append(Unread())
    assert not first.kept.picture()
    assert "No picture of the pad" in caplog.text
    assert [note[0] for note in Pad(tmp_path).notes] == ["a"]


class Unread:
    def __reduce__(self) -> Any:
        return int, ("no number",)


def test_another_answer_than_before_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Pad(tmp_path)
    first.kept.execute("a")
    first.kept.execute("own")
    file = next(tmp_path.glob("journal-*"))
    *others, (at, seed, call, _) = list(records(file))
    file.unlink()
    changed = Journal(file)
    for one in (*others, (at, seed, call, b"another")):
        changed.add(one)
    assert Pad(tmp_path).kept.strange == 1
    assert "call 2 of journal-000001 has another answer now" in caplog.text


def _every_cut(file: Path) -> list[bytes]:
    whole = file.read_bytes()
    return [whole[:length] for length in range(len(whole))]


def test_half_a_record_is_none(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    written = Journal(file)
    written.add("first")
    whole = written.size
    written.add("second")
    for cut in _every_cut(file):
        file.write_bytes(cut)
        assert list(records(file)) == (["first"] if len(cut) >= whole else [])
        Journal(file).add("third")
        assert list(records(file))[-1] == "third"


@pytest.mark.parametrize("byte", [*range(journal.HEAD.size), journal.HEAD.size + 3])
def test_damage_in_the_middle_is_no_end(tmp_path: Path, byte: int) -> None:
    pad = Pad(tmp_path)
    pad.kept.execute("a")
    pad.kept.execute("b")
    file = next(tmp_path.glob("journal-*"))
    data = bytearray(file.read_bytes())
    data[byte] ^= 0x80
    file.write_bytes(data)
    with pytest.raises(DamagedError):
        list(records(file))
    with pytest.raises(world.WorldError, match=r"landbridge local forget"):
        Pad(tmp_path)


def test_large_contents_are_written_once(tmp_path: Path) -> None:
    pad = Pad(tmp_path)
    pad.notes.append(b"large" * 100_000)
    assert pad.kept.picture()
    (file,) = (tmp_path / "contents").iterdir()
    before = file.stat().st_ino
    assert pad.kept.picture()
    assert (file.stat().st_ino, file.stat().st_mode & 0o777) == (before, 0o600)
    assert Pad(tmp_path).notes == pad.notes
    pad.notes.clear()
    assert pad.kept.picture()
    assert not list((tmp_path / "contents").iterdir())


def test_a_call_that_waited_its_turn_as_a_pause_began_waits_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Pad(tmp_path)
    inside, go, let = threading.Event(), threading.Event(), threading.Event()
    original = first.kept._let

    def hold(_: Any) -> world.Answer:
        inside.set()
        go.wait(60)
        return world.Answer("200 OK", [], b"")

    def passed() -> None:
        original()
        let.set()

    with monkeypatch.context() as patch:
        patch.setattr(first.kept, "cloud", first.kept.cloud._replace(call=hold))
        slow = threading.Thread(target=first.kept.execute, args=("slow",))
        slow.start()
        assert inside.wait(60)
    monkeypatch.setattr(first.kept, "_let", passed)
    late = threading.Thread(target=first.kept.execute, args=("late",))
    late.start()
    assert let.wait(60)
    pause = threading.Thread(target=first.kept.pause, args=(600,))
    pause.start()
    while not first.kept.until:
        time.sleep(0.001)
    go.set()
    pause.join(60)
    late.join(0.2)
    assert (first.notes, late.is_alive()) == ([], True)
    first.kept.resume()
    late.join(60)
    assert [note[0] for note in first.notes] == ["late"]


@pytest.fixture
def clockwork() -> Any:
    """The clock's and chance's places are taken for a test's time."""
    import datetime as datetimes
    import random

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((datetimes, "datetime"), (time, "time"), (os, "urandom"), (random, "_urandom")):
            patch.setattr(owner, name, getattr(owner, name))
        moment.install()
        yield datetimes


def test_a_moment_holds_for_all_who_ask(clockwork: Any) -> None:
    import secrets

    asked: tuple[Callable[[], Any], ...] = (
        uuid.uuid4,
        secrets.token_bytes,
        time.time,
        lambda: clockwork.datetime.now(UTC),
        lambda: clockwork.datetime.now(),
    )

    def ask() -> list[Any]:
        return [one() for one in asked]

    with moment.Moment(1_000_000.5, b"seed").holds():
        first = ask()
    with moment.Moment(1_000_000.5, b"seed").holds():
        assert ask() == first
    assert first[3].timestamp() == first[2] == 1_000_000.5
    assert all(one != other for one, other in zip(ask(), first, strict=True))
