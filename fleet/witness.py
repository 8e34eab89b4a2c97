"""What a program reads, written down as it reads it, so that a run that would read the same can be left out.

On where $LANDBRIDGE_WITNESS names a file: each read is a line of JSON in it, appended once, [kind, what, digest].
It fails closed: what no line can account for, such as a connection or a process, is a line of kind `unknown`, and a
program with one is never left out. No value is written, only digests. See docs/decisions/0047.
"""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ENVIRONMENT = "LANDBRIDGE_WITNESS"
THERE = "there"
FILE, STAT, VARIABLE, PART, UNKNOWN = "file", "stat", "variable", "part", "unknown"
ROOT = Path(__file__).resolve().parents[1]
# What programs, policies and the local cloud's plugins are made of.
FOLDERS = ("fleet", "components", "stacks", "policies", "images", "services", "local")
# Code, which is accounted for as a whole, and what the kernel makes up.
CODE = (*(f"{ROOT}/{name}/" for name in FOLDERS), f"{sys.prefix}/", f"{sys.base_prefix}/", "/usr/lib/")
KERNEL = ("/proc/", "/dev/", "/sys/")
# A program that does one of these reads what nobody sees.
UNSEEN = {
    "socket.connect": "a connection",
    "subprocess.Popen": "a program",
    "os.system": "a program",
    "os.exec": "a program",
    "os.posix_spawn": "a program",
    "os.listdir": "a folder",
    "os.scandir": "a folder",
    "glob.glob": "a folder",
    "sqlite3.connect": "a database",
}
LISTINGS = {"os.listdir", "os.scandir", "glob.glob"}


class Witness:
    """Of one process. `file` is open for appending: lines of several processes stay whole."""

    def __init__(self, file: int) -> None:
        self.file, self.recorded, self.ours = file, set[tuple[str, str]](), threading.local()

    def note(self, kind: str, what: Any, digest: str = "") -> None:
        """One read; told again it is no second one."""
        text = json.dumps(what)
        if (kind, text) not in self.recorded:
            self.recorded.add((kind, text))
            os.write(self.file, f"[{json.dumps(kind)}, {text}, {json.dumps(digest)}]\n".encode())

    @property
    def busy(self) -> bool:
        """Whether what this thread reads is for the witness alone."""
        return getattr(self.ours, "busy", False)

    def part(self, read: Sequence[str], digest: str) -> None:
        """A part of the fleet, see `fleet.reads`."""
        self.note(PART, list(read), digest)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's own word of what it does (sys.addaudithook)."""
        if self.busy:
            return
        if event == "open":
            self.opened(*arguments)
        elif event in LISTINGS:
            if not accounted(path_of(arguments[0] or ".")):
                self.note(UNKNOWN, f"{UNSEEN[event]}: {path_of(arguments[0] or '.')}")
        elif event in UNSEEN:
            self.note(UNKNOWN, f"{UNSEEN[event]}: {arguments[1] if event == 'socket.connect' else arguments[0]}")

    def opened(self, given: Any, mode: str | None, flags: int) -> None:
        if isinstance(given, int) or (flags & os.O_ACCMODE) == os.O_WRONLY or (mode or "r")[0] in "wxa":
            return
        if not accounted(path := path_of(given)):
            self.ours.busy = True
            try:
                self.note(FILE, path, digest_of_file(path))
            finally:
                self.ours.busy = False


def path_of(given: Any) -> str:
    return os.path.abspath(os.fsdecode(given))  # noqa: PTH100 (a Path's own ways look at the file)


def accounted(path: str) -> bool:
    return f"{path}/".startswith((*CODE, *KERNEL))


def digest_of_file(path: str) -> str:
    """Empty where there is none to read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]
    except OSError:
        return ""


# This process's own, once it has begun.
here: Witness | None = None


def begin() -> None:
    """From now on all that this process reads is written down, where somebody asked for that."""
    global here
    place = os.environ.get(ENVIRONMENT)
    if not place or here:
        return
    here = Witness(os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    _watch_stat(here)
    _watch_variables(here)
    sys.addaudithook(here.audit)


def _watch_stat(witness: Witness) -> None:
    """Whether something is there is no audit event: `exists` and its like all go through these two."""

    def watched(real: Any) -> Any:
        def look(given: Any, **more: Any) -> Any:
            if isinstance(given, int) or witness.busy:
                return real(given, **more)
            path, there = path_of(given), ""
            try:
                found = real(given, **more)
                there = THERE
                return found
            finally:
                if not accounted(path):
                    witness.note(STAT, path, there)

        return look

    os.stat, os.lstat = watched(os.stat), watched(os.lstat)


def _watch_variables(witness: Witness) -> None:
    """os.environ tells which variables are asked for. Their values are known to who has started the program."""
    kind = type(os.environ)
    get, names = kind.__getitem__, kind.__iter__

    def get_variable(self: Any, key: str) -> str:
        witness.note(VARIABLE, key)
        return get(self, key)

    def all_(self: Any) -> Any:
        witness.note(VARIABLE, "*")
        return names(self)

    kind.__getitem__, kind.__iter__ = get_variable, all_  # type: ignore[method-assign]
