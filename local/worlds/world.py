"""A world that a server keeps in a folder: the last picture of all of it, and each call since.

A picture is taken once the calls since the last one have cost many times as much, so that pictures are a small part of
the whole, and a start makes few calls again. Calls are made one at a time.
"""

import hashlib
import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from . import moment, pickles
from .journal import DamagedError, Journal, records

log = logging.getLogger("local.worlds")
# Of the files; others are refused.
FORM = 3
# A picture costs at most this part of what calls cost.
SHARE = 0.06
FIRST_CPU_SECONDS = 2.0
JOURNAL_BYTES = 64 << 20
MOST_LOGGED = 20


class WorldError(Exception):
    """A world cannot be restored. The text says which one, why and what to do."""


class Answer(NamedTuple):
    """What a call is answered with. `digest` is what stands for the answer in the journal."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def digest(self) -> bytes:
        return hashlib.blake2b(self.status.encode() + self.body, digest_size=8).digest()


class Cloud(NamedTuple):
    """What is kept: `call` answers a call that can be written down, `state` is all there is, `restore` takes it back.

    `waits`: something that no picture can have is going on. `version`: what reads the picture, in words, beside Python.
    """

    name: str
    version: str
    call: Callable[[Any], Answer]
    state: Callable[[], Any]
    restore: Callable[[Any], None]
    waits: Callable[[], bool] = lambda: False
    reducers: Mapping[type, pickles.Reducer] = {}


class StoredWorld:
    """`folder` None: nothing is kept, for servers that only a test sees."""

    def __init__(self, cloud: Cloud, folder: Path | None) -> None:
        self.cloud, self.folder = cloud, folder
        self.lock = threading.RLock()
        self.paused = threading.Condition()
        self.until = 0.0
        self.number, self.since, self.wanted = 0, 0.0, FIRST_CPU_SECONDS
        self.journal: Journal | None = None
        self.strange = 0
        self.refused, self.most_bytes = "", JOURNAL_BYTES
        if folder:
            # What was there already, a home or /tmp, keeps its mode.
            folder.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)

    @property
    def version(self) -> str:
        return f"form {FORM}, {self.cloud.version}, Python {platform.python_version()}"

    def execute(self, call: Any) -> Answer:
        """Answers a call, which is on disk by then."""
        with self._exclusive():
            begun, at = time.thread_time(), moment.now()
            with at.holds() as fixed:
                digest, answer = self._made(call)
            if self.journal:
                self._write_down((at.at, at.seed, call, digest))
                self.since += time.thread_time() - begun
                if not fixed.repeatable or self.since > self.wanted or self.journal.size > self.most_bytes:
                    self.picture()
            if isinstance(answer, Exception):
                raise answer
            return answer

    def _made(self, call: Any) -> tuple[bytes, Answer | Exception]:
        """What stands for the outcome, and the outcome: a call that failed may have changed something, too."""
        try:
            answer = self.cloud.call(call)
        except Exception as error:
            return type(error).__name__.encode(), error
        return answer.digest, answer

    def _write_down(self, record: Any) -> None:
        """Ends the process where it can't: what it holds would be ahead of what is kept, for all calls from here on."""
        assert self.journal
        try:
            self.journal.add(record)
        except OSError as error:
            log.critical("%s can't keep a call, and ends: %s", self.cloud.name, error)
            os._exit(1)

    def restore(self) -> int:
        """Takes back what lies in the folder, and keeps from now on; gives how many calls it made again.

        Raises WorldError.
        """
        if self.folder is None:
            return 0
        try:
            pictures = sorted(_numbered(self.folder, "picture"))
            if pictures:
                self.number, file = pictures[-1]
                self._take(file)
            made = sum(
                self._again(journal)
                for number, journal in sorted(_numbered(self.folder, "journal"))
                if number >= self.number
            )
            last = max([self.number, *(number for number, _ in _numbered(self.folder, "journal"))])
        except Exception as error:
            raise WorldError(
                f"What {self.cloud.name} kept in {self.folder} cannot be read: {error}. `landbridge local forget` "
                "drops the whole world, `landbridge local load NAME` brings back one that was saved."
            ) from error
        self.number = last
        self.journal = Journal(self.folder / f"journal-{last:06}")
        if not pictures:
            self.picture()  # what a process makes at its start, such as keys, is in it
        if self.strange:
            log.error("%d of %d calls were answered in another way than before", self.strange, made)
        return made

    def picture(self) -> bool:
        """Keeps all there is, and forgets the calls since the last time. False when it can't be now."""
        if self.folder is None or self.journal is None or self.cloud.waits():
            return False
        begun = time.thread_time()
        contents = pickles.Contents(self.folder / "contents")
        try:
            whole = pickles.dumps(self.cloud.state(), contents, self.cloud.reducers)
            # Nothing goes before it is certain that this can be read again.
            pickles.loads(whole, contents)
            write(self.folder / f"picture-{self.number + 1:06}", self.version.encode() + b"\n" + whole)
        except Exception as error:
            # Calls since then are enough to begin from; nothing is lost.
            if str(error) != self.refused:
                log.error("No picture of %s: %s", self.cloud.name, error)
            self.refused, self.since, self.wanted = str(error), 0.0, 2 * self.wanted
            self.most_bytes = 2 * max(self.most_bytes, self.journal.size)
            return False
        self.number += 1
        self.journal.close()
        self.journal = Journal(self.folder / f"journal-{self.number:06}")
        for kind in ("picture", "journal"):
            for number, file in _numbered(self.folder, kind):
                if number < self.number:
                    file.unlink()
        contents.clean()
        self.since, self.wanted, self.most_bytes = 0.0, (time.thread_time() - begun) / SHARE, JOURNAL_BYTES
        return True

    def flush(self) -> None:
        """All outlives a power cut from here on."""
        with self.lock:
            if self.journal:
                self.journal.flush()
                for file in [self.journal.file.parent, *self.journal.file.parent.rglob("*")]:
                    _sync(file)

    def end(self) -> None:
        """The last thing: the next start has nothing to make again, if there is time enough for that."""
        with self.lock:
            self.flush()
            if self.picture():
                self.flush()

    def pause(self, seconds: float) -> None:
        """Calls wait for so long, or until `resume`; nothing is written meanwhile. Raises ValueError."""
        if not 0 <= seconds <= 600:
            raise ValueError(f"a pause lasts 0 to 600 seconds: {seconds}")
        with self.paused:
            self.until = time.monotonic() + seconds
            self.paused.notify_all()
        with self.lock:  # those that were under way are over
            pass

    def resume(self) -> None:
        self.pause(0)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """The lock, and no pause: one may have begun while a call waited for the lock."""
        while True:
            self._let()
            with self.lock:
                if self.until <= time.monotonic():
                    yield
                    return

    def _let(self) -> None:
        with self.paused:
            while (left := self.until - time.monotonic()) > 0:
                self.paused.wait(left)

    def _take(self, file: Path) -> None:
        assert self.folder
        version, _, data = file.read_bytes().partition(b"\n")
        if version.decode() != self.version:
            raise DamagedError(f"it is of {version.decode()}, and here is {self.version}")
        state = pickles.loads(data, pickles.Contents(self.folder / "contents"))
        self.cloud.restore(state)

    def _again(self, file: Path) -> int:
        """Makes calls again as they were made; what is answered otherwise is told."""
        count = 0
        for count, (at, seed, call, digest) in enumerate(records(file), 1):
            begun = time.thread_time()
            with moment.Moment(at, seed).holds():
                same = self._made(call)[0] == digest
            self.since += time.thread_time() - begun
            if not same:
                self.strange += 1
                if self.strange <= MOST_LOGGED:
                    log.error(
                        "%s: call %d of %s has another answer now: %s", self.cloud.name, count, file.name, named(call)
                    )
        return count


def named(call: Any) -> str:
    """A call in words, without what may be secret in it."""
    return str(getattr(call, "words", ""))


def write(file: Path, data: bytes) -> None:
    """Whole or not at all."""
    draft = file.with_name(f".{file.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(data)
    draft.rename(file)


def _numbered(folder: Path, kind: str) -> Iterator[tuple[int, Path]]:
    for file in list(folder.glob(f"{kind}-*")):
        yield int(file.name.rpartition("-")[2]), file


def _sync(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
