"""Files that commands write beside the fleet file, and that are committed with it: read whole, replaced whole."""

import os
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from .errors import FleetError, Problem
from .yaml import plain, read

RESTORE = "Take the file of the branch you merge into, as it is there"
Entry = TypeVar("Entry")


def load(path: Path, form: TypeAdapter[dict[str, Entry]]) -> dict[str, Entry]:
    """Empty when there is no file. Raises FleetError when it is damaged."""
    if not path.exists():
        return {}
    data, lines = read(path)
    try:
        return form.validate_python(plain(data))
    except ValidationError as error:
        found = [
            Problem(
                path.name, lines.of(detail["loc"]), f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}", RESTORE
            )
            for detail in error.errors(include_url=False)
        ]
        raise FleetError(found) from None


def write(path: Path, text: str) -> None:
    """Replaces the file in one step: a reader sees the old or the new one, never half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
