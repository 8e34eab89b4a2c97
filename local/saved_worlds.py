"""Worlds that are kept: one moment of a home, copied aside, and brought back into any home.

SHELF/NAME holds `saved.json`, which says what it is, and `world`, a copy of what stands in a home. Nothing of a cloud
runs while it is copied, so a copy is what a power cut leaves. Functions are called within `client.starting`.
"""

import importlib.metadata
import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import installation

from . import kubernetes
from .errors import SavedWorldError as SavedWorldError

# Of what is beside a world, and of the world's own files.
FORM = 1
MARK = "world.json"
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# What belongs to a life of the daemon, and to no world.
NOT_KEPT = ("cloud.json", "cloud.log", "cloud.lock", "cloud.hosts", "cloud.crt", "parts.json", "networks")
# Left free on the disk, whatever is copied.
SPARE_MIB = 512


class Saved(NamedTuple):
    """A world that is kept."""

    name: str
    made: datetime
    fleets: tuple[str, ...]
    machines: int
    mib: int
    kubernetes: tuple[str, ...]
    programs: dict[str, Any]
    folder: Path


def listed(shelf: Path) -> list[Saved]:
    """The newest first."""
    found = [read(file.parent) for file in shelf.glob("*/saved.json") if NAME.fullmatch(file.parent.name)]
    return sorted(found, key=lambda one: one.made, reverse=True)


def read(folder: Path) -> Saved:
    try:
        record = json.loads((folder / "saved.json").read_text())
        made = datetime.fromisoformat(record["made"])
        fleets, versions = tuple(record["fleets"]), tuple(record["kubernetes"])
        return Saved(folder.name, made, fleets, record["machines"], record["mib"], versions, record["programs"], folder)
    except (ValueError, KeyError, TypeError):
        raise SavedWorldError(f"{folder / 'saved.json'} is damaged: remove the folder {folder}.") from None


def checked(name: str) -> str:
    """Raises SavedWorldError for what can't be a name."""
    if not NAME.fullmatch(name):
        raise SavedWorldError(f"{name!r} is no name for a saved world: small letters, digits and - within, at most 63.")
    return name


def one(shelf: Path, name: str) -> Saved:
    """Raises SavedWorldError for one that is not there."""
    folder = shelf / checked(name)
    if not (folder / "saved.json").exists():
        there = ", ".join(known.name for known in listed(shelf)) or "none; `landbridge local save NAME` makes one"
        raise SavedWorldError(f"No world was saved as {name}. There are: {there}.")
    return read(folder)


def programs() -> dict[str, Any]:
    """What reads a world: another form or version of these may not understand it."""
    return {"form": FORM, "moto": importlib.metadata.version("moto")}


def fitting(saved: Saved) -> None:
    """Raises SavedWorldError when the programs that are here can't run it."""
    for what, here in programs().items():
        if (then := saved.programs.get(what)) != here:
            raise SavedWorldError(
                f"{saved.name} was saved by another version of the local cloud ({what} {then}, here it is {here}). "
                f"`landbridge up --local` builds it anew; `landbridge local saved --drop {saved.name}` drops it."
            )
    if missing := [version for version in saved.kubernetes if kubernetes.lacks(version)]:
        raise SavedWorldError(
            f"{saved.name} has machines with Kubernetes {', '.join(missing)}, which is not built here. "
            f"{installation.SETUP_LOCAL} builds {kubernetes.BUILT_IN}; others come with an `up --local` that asks for "
            "them."
        )


def save(home: Path, shelf: Path, name: str, machines: list[dict[str, Any]]) -> Saved:
    """Copies what stands in `home`, in which nothing runs; one of that name is replaced. Raises SavedWorldError."""
    shelf.mkdir(parents=True, exist_ok=True)
    shelf.chmod(0o700)
    draft, place = shelf / f".{checked(name)}.new", shelf / name
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        copy(home, draft / "world", size_mib(home))
        record = {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "fleets": sorted(marker.parent.name for marker in home.glob("*/generation")),
            "machines": len(machines),
            "kubernetes": sorted({one["kubernetes"] for one in machines}),
            "mib": size_mib(draft / "world"),
            "programs": programs(),
        }
        (draft / "saved.json").write_text(json.dumps(record, indent=1))
        exchange(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return read(place)


def load(home: Path, saved: Saved) -> None:
    """Has `home`, in which nothing runs, hold a copy of it. What stood there stays aside: see `settle` and `back`."""
    draft = beside(home, "loading")
    try:
        copy(saved.folder / "world", draft, saved.mib)
        if home.exists():
            # Of the daemon's: who looks into its log finds the days before, too.
            for log in home.glob("cloud.log"):
                shutil.copy2(log, draft / log.name)
            home.rename(beside(home, "old"))
        draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def stands(home: Path) -> bool:
    """Whether there is a world in it."""
    return (home / MARK).exists()


def drop(home: Path) -> None:
    """In one step for all who look: it is gone, and then its files go."""
    gone = beside(home, "old")
    shutil.rmtree(gone, ignore_errors=True)
    home.rename(gone)
    home.mkdir()
    shutil.rmtree(gone, ignore_errors=True)


def back(home: Path) -> None:
    """What a load has replaced is there again."""
    old = beside(home, "old")
    shutil.rmtree(home, ignore_errors=True)
    if old.exists():
        old.rename(home)


def settle(home: Path) -> None:
    """Ends a load that was cut off, one way or the other, and drops what it replaced."""
    old = beside(home, "old")
    if old.exists() and not home.exists():
        old.rename(home)
    for folder in (old, beside(home, "loading")):
        shutil.rmtree(folder, ignore_errors=True)


def beside(home: Path, what: str) -> Path:
    return home.with_name(f"{home.name}.{what}")


def exchange(draft: Path, place: Path) -> None:
    """`draft` takes the place of what is there, if something is."""
    old = place.with_name(f".{place.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    draft.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def copy(source: Path, target: Path, mib: int) -> None:
    """By `cp`, which shares blocks where the file system can; zeros, as etcd lays them in ahead, become holes.

    Raises SavedWorldError.
    """
    target.mkdir(parents=True, mode=0o700)
    free = shutil.disk_usage(target).free >> 20
    if free < mib + SPARE_MIB:
        raise SavedWorldError(
            f"{target.parent} has {free} MiB left, and {mib + SPARE_MIB} MiB are needed. Make room there."
        )
    entries = [str(entry) for entry in sorted(source.iterdir()) if entry.name not in NOT_KEPT]
    words = ["cp", "--archive", "--reflink=auto", "--sparse=always", "--", *entries, str(target)]
    done = subprocess.run(words, capture_output=True, text=True, check=False) if entries else None
    if done and done.returncode:
        raise SavedWorldError(f"copying {source} failed: {done.stderr.strip().splitlines()[-1]}.")


def size_mib(folder: Path) -> int:
    """What it takes on the disk."""
    done = subprocess.run(["du", "-sm", str(folder)], capture_output=True, text=True, check=False)
    return int(done.stdout.split()[0]) if done.stdout else 0
