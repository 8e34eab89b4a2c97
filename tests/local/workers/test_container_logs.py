"""What containers have printed: which run is asked for, the last lines of it, and what comes while one listens."""

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local.workers import container_logs, containers, log_lines
from local.workers.container_logs import Log, NoLog, Wanted
from local.workers.pod_container import MAIN, PodContainer

ALL = Wanted(follow=False, previous=False, tail=None, limit=None)


def kept(text: str) -> bytes:
    made, rest = log_lines.entries(text.encode())
    return made + log_lines.last(rest)


def file(folder: Path, text: str, older: str | None = None) -> Log:
    (folder / "0.log").write_bytes(kept(text))
    if older is not None:
        (folder / "0.log.1").write_bytes(kept(older))
    return Log(folder / "0.log", lambda: True)


def text(log: Log, asked: Wanted, rest: Callable[[], bool] = lambda: False) -> str:
    return b"".join(container_logs.read(log, asked, rest)).decode()


@pytest.mark.parametrize(
    ("tail", "limit", "found"),
    [
        (None, None, "old\nold 2\na\nb\nc\n"),
        (0, None, ""),
        (1, None, "c\n"),
        (3, None, "a\nb\nc\n"),
        (4, None, "old 2\na\nb\nc\n"),
        (99, None, "old\nold 2\na\nb\nc\n"),
        (2, 3, "b\nc"),
        (None, 0, ""),
        (None, 99, "old\nold 2\na\nb\nc\n"),
    ],
)
def test_the_last_lines_are_those_of_both_parts(
    tmp_path: Path, monkeypatch: Any, tail: int | None, limit: int | None, found: str
) -> None:
    log = file(tmp_path, "a\nb\nc\n", older="old\nold 2\n")
    for chunk in (2, 1 << 16):
        monkeypatch.setattr(container_logs, "CHUNK", chunk)
        assert text(log, ALL._replace(tail=tail, limit=limit)) == found
        assert text(log, ALL._replace(tail=tail, limit=limit, follow=True)) == found


def test_a_last_line_without_an_end_is_a_line(tmp_path: Path) -> None:
    assert text(file(tmp_path, "a\nb"), ALL._replace(tail=1)) == "b"
    assert text(file(tmp_path, ""), ALL._replace(tail=1)) == ""


def test_who_follows_hears_all_though_the_file_is_changed_over(tmp_path: Path) -> None:
    log = file(tmp_path, "a\n")
    steps = iter(("b", "over", "c"))
    over: list[bool] = []

    def more(line: str) -> None:
        with log.file.open("ab") as now:
            now.write(kept(f"{line}\n"))

    def rest() -> bool:
        step = next(steps)
        if step == "over":
            # As it is done with a long one, whose last line nobody has read yet.
            more("last of the old")
            log.file.replace(tmp_path / "0.log.1")
        more(step)
        if step == "c":
            over.append(True)
        return True

    follows = log._replace(ended=lambda: bool(over))
    assert text(follows, ALL._replace(follow=True), rest) == "a\nb\nlast of the old\nover\nc\n"


def test_a_line_has_its_time_and_lines_before_a_time_are_left_out(tmp_path: Path) -> None:
    first, second = (b"2026-11-30T12:00:0%d.000000000Z stdout F %s\n" % one for one in ((1, b"early"), (2, b"late")))
    log = file(tmp_path, "")
    log.file.write_bytes(first + second)
    assert text(log, ALL._replace(since=b"2026-11-30T12:00:01.500000000Z")) == "late\n"
    assert text(log, ALL._replace(stamps=True, tail=1)) == "2026-11-30T12:00:02.000000000Z late\n"


def test_long_lines_and_those_without_an_end_come_back_as_they_were(tmp_path: Path) -> None:
    long = "x" * (2 * log_lines.LONGEST + 5)
    for told in (f"a\n{long}\n\nb", long, "\n"):
        assert text(file(tmp_path, told), ALL) == told
    entries = kept(f"{long}\n").splitlines()
    form = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z stdout [PF] x+")
    assert [bool(form.fullmatch(one)) for one in entries] == [True, True, True]
    assert [one.split(b" ")[2] for one in entries] == [b"P", b"P", b"F"]


def test_what_is_written_piece_by_piece_is_kept_by_lines() -> None:
    made, rest = log_lines.entries(b"a\nhal")
    assert (text_of(made), rest) == (b"a\n", b"hal")
    made, rest = log_lines.entries(rest + b"f\n")
    assert (text_of(made), rest) == (b"half\n", b"")
    assert log_lines.last(rest) == b""


def test_what_a_container_says_is_kept_and_its_last_words_are_without_times(tmp_path: Path, monkeypatch: Any) -> None:
    log, (heard, says) = tmp_path / "0.log", os.pipe()
    keeping = threading.Thread(target=containers.keep, args=(heard, log))
    monkeypatch.setattr(containers, "LONGEST", 150)
    keeping.start()
    for piece in (b"one\ntw", b"o\n", b"three\n", b"no end"):
        os.write(says, piece)
        time.sleep(0.05)
    os.close(says)
    keeping.join(20)
    assert text(Log(log, lambda: True), ALL) == "one\ntwo\nthree\nno end"
    assert (tmp_path / "0.log.1").exists(), "a long one is changed over between entries"
    assert containers.last_words(log) == "no end"
    log.write_bytes(kept("".join(f"line {number}\n" for number in range(1000))))
    assert containers.last_words(log).splitlines() == [f"line {number}" for number in range(920, 1000)]
    log.write_bytes(kept("é" * 5000))
    assert containers.last_words(log).endswith("ééé")


def text_of(entries: bytes) -> bytes:
    return b"".join(log_lines.printed([entries]))


def test_nobody_listens_any_more(tmp_path: Path) -> None:
    assert text(file(tmp_path, "a\n")._replace(ended=lambda: False), ALL._replace(follow=True)) == "a\n"


def slot(**more: Any) -> PodContainer:
    made = PodContainer({"name": "main", "image": "x"}, MAIN, "Always", None)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_the_run_is_the_one_that_kubernetes_means(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    for run in range(3):
        (tmp_path / f"main/{run}.log").touch()

    def run(container: PodContainer, *, previous: bool = False) -> str:
        return container_logs.find(tmp_path, "one", container, previous=previous).file.stem

    process: Any = object()
    assert run(slot(running=process, restarts=2)) == "2"
    assert run(slot(running=process, restarts=2), previous=True) == "1"
    assert run(slot(over=True, restarts=2)) == "2"
    waits = slot(restarts=2, last={"terminated": {}})
    assert (run(waits), run(waits, previous=True)) == ("1", "1"), "it waits for its next start"
    new = slot()
    new.wait("ContainerCreating", "its volumes: late")
    with pytest.raises(NoLog, match=r'container "main" in pod "one" is waiting to start: ContainerCreating: its vol'):
        run(new)
    for none in (new, slot(running=process)):
        with pytest.raises(NoLog, match='previous terminated container "main" in pod "one" not found'):
            run(none, previous=True)
    container = slot(running=process)
    log = container_logs.find(tmp_path, "one", container, previous=False)
    assert not log.ended()
    container.running = None
    assert log.ended()


def test_what_is_asked_is_read_or_refused() -> None:
    asked = {"follow": ["true"], "previous": [""], "tailLines": ["5"], "limitBytes": ["7"], "timestamps": ["false"]}
    assert container_logs.wanted(asked) == Wanted(follow=True, previous=True, tail=5, limit=7)
    assert container_logs.wanted({"follow": ["0"]}) == ALL
    noon = container_logs.wanted({"timestamps": ["true"], "sinceTime": ["2026-11-30T13:00:00+01:00"]})
    assert (noon.stamps, noon.since) == (True, b"2026-11-30T12:00:00.000000000Z")
    hour = container_logs.wanted({"sinceSeconds": ["3600"]})
    assert hour.since[:16] == log_lines.stamp(time.time_ns() - 3600 * 10**9)[:16]
    for wrong, why in (
        ({"sinceTime": ["yesterday"]}, "Invalid isoformat string: 'yesterday'"),
        ({"tailLines": ["-1"]}, "tailLines is a number from 0 on, not '-1'"),
        ({"stream": ["Stderr"]}, "there is no Stderr alone"),
        ({"colour": ["on"]}, "do not know colour"),
    ):
        with pytest.raises(ValueError, match=why):
            container_logs.wanted(wrong)
