"""One line of JSON for each decision, on standard output, where the node keeps pods' words; and in a file, if one is
named, for the program beside this one that keeps a day of them (notes.py).
"""

import json
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# The file is begun anew above that; the one before stays beside it.
MOST_BYTES = 1_000_000
BEFORE = ".before"
_lock = threading.Lock()
_files: list[Path] = []
_marks: dict[str, Any] = {}


def keep(file: Path) -> None:
    """From now on in this file too."""
    _files[:] = [file]


def mark(**always: Any) -> None:
    """From now on each line has these, too."""
    _marks.update(always)


def record(decision: str, **more: Any) -> None:
    """`decision` is one word; `more` what it was about."""
    line = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", "decision": decision, **more, **_marks}
    text = json.dumps(line) + "\n"
    with _lock:
        sys.stdout.write(text)
        sys.stdout.flush()
        for file in _files:
            try:
                _append(file, text)
            except OSError as error:
                # What is decided is done all the same.
                sys.stderr.write(f"{file}: {error.strerror}\n")


def _append(file: Path, text: str) -> None:
    if file.exists() and file.stat().st_size > MOST_BYTES:
        file.replace(file.with_name(file.name + BEFORE))
    with file.open("a") as opened:
        opened.write(text)


def read_all(file: Path) -> list[dict[str, Any]]:
    """All decisions of the file and of the one before it, oldest first; a line that is not whole yet is left out."""
    found = []
    for one in (file.with_name(file.name + BEFORE), file):
        if one.is_file():
            found += [json.loads(line) for line in one.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return found
