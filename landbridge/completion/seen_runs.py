"""Runs that this computer has seen last, for Tab: only their cluster knows them, and that may be far away."""

from collections.abc import Iterable
from pathlib import Path

from landbridge.code import private_files

FILE, MOST = "runs.json", 200


def place() -> Path:
    return private_files.cache_folder().with_name("completion") / FILE


def of(fleet: Path) -> list[str]:
    """Of a fleet file, the newest first."""
    found = private_files.read(place()).get(str(fleet))
    return [str(name) for name in found] if isinstance(found, list) else []


def note(fleet: Path, names: Iterable[str]) -> None:
    """`names` are the newest. What was there before stays behind them, and at last falls out."""
    kept = private_files.read(place())
    newest = list(dict.fromkeys([*names, *of(fleet)]))[:MOST]
    if newest != of(fleet):
        private_files.write(place(), {**kept, str(fleet): newest})
