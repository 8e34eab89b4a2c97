"""Files in the user's cache folder that nobody else may read: names of files and digests tell of what one works on."""

import contextlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where what code's launches remember lies. It may be deleted at any time."""
    base = environment.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "landbridge" / "code"


def read(path: Path) -> dict[str, Any]:
    """Empty where there is none, or where it is damaged: what is kept here only saves time."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, whole: Mapping[str, Any]) -> None:
    """In one step: another launch sees the old file or the new one. A full disk costs the next launch time, no more."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(whole, file, separators=(",", ":"))
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
