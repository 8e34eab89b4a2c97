"""Takes a snapshot of every share, and lets old ones go: nfs_snapshot.py [SHARE …].

A file that has not changed since the last snapshot is one more name of the copy there; a changed one is a clone, which
shares its blocks with the share (XFS's reflinks) and takes no time. Each file is whole, as it was at one moment; files
of one snapshot may be seconds apart.
"""

import datetime
import errno
import fcntl
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from machine import say, settings
from nfs_index import FILE, FOLDER, LINK, Entry, Writer, alone, beside, read, same, walk

STAMP = "%Y-%m-%dT%H%M%SZ"
INDEX = ".index.gz"
DRAFT = ".draft-"
# The newest of each of so many hours, days and weeks that have one.
RETENTION = ((24, "%Y-%m-%dT%H"), (14, "%Y-%m-%d"), (8, "%G-W%V"))
FICLONE = 0x40049409  # ioctl_ficlone(2)


def stamps(folder: Path) -> list[str]:
    """Of whole snapshots, the oldest first: an index is written last."""
    return sorted(found.name.removesuffix(INDEX) for found in folder.glob(f"[0-9]*{INDEX}"))


def clone(source: Path, target: Path, *, plain: bool) -> None:
    """Raises OSError where the file system can't; with `plain` it copies then."""
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
        except OSError as error:
            if not plain or error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY, errno.EXDEV):
                raise
            shutil.copyfileobj(old, new)


def take(share: Path, folder: Path, stamp: str, *, plain: bool = False) -> dict[str, int]:
    """One snapshot below `folder`; gives how many files are new and how many are names of older copies."""
    known = stamps(folder)
    for left in [*folder.glob(f"{DRAFT}*"), *(one for one in folder.glob("[0-9]*Z") if one.name not in known)]:
        shutil.rmtree(left)
    draft, done = folder / f"{DRAFT}{stamp}", {"new": 0, "linked": 0, "vanished": 0}
    last = known[-1:]
    olds = read(folder / f"{last[0]}{INDEX}") if last else iter(())
    folders: list[tuple[Path, Path]] = []
    with Writer(folder / f"{stamp}{INDEX}") as index:
        for entry, old in beside(walk(share), olds):
            source, target = share / entry["path"], draft / entry["path"]
            try:
                if entry["kind"] == FOLDER:
                    target.mkdir(parents=not entry["path"])
                    folders.append((source, target))
                elif entry["kind"] == FILE and same(entry, old) and _linked(folder / last[0] / entry["path"], target):
                    done["linked"] += 1
                else:
                    _copied(entry, source, target, plain=plain)
                    done["new"] += 1
            except FileNotFoundError:
                done["vanished"] += 1
                continue
            index.add(entry)
        # The deepest first: what is written into a folder alters its time.
        for source, target in reversed(folders):
            _like(source, target)
        draft.rename(folder / stamp)
    return done


def _linked(copy: Path, target: Path) -> bool:
    try:
        os.link(copy, target)
    except OSError:  # gone, or a file has as many names as it may
        return False
    return True


def _copied(entry: Entry, source: Path, target: Path, *, plain: bool) -> None:
    if entry["kind"] == LINK:
        target.symlink_to(entry["target"])
        os.chown(target, entry["uid"], entry["gid"], follow_symlinks=False)
    else:
        clone(source, target, plain=plain)
        _like(source, target)


def _like(source: Path, target: Path) -> None:
    """Owner first: changing it takes set-id bits away."""
    try:
        told = source.stat()
        os.chown(target, told.st_uid, told.st_gid)
        shutil.copystat(source, target)
    except FileNotFoundError:  # the share's own has gone meanwhile
        pass


def retained(found: list[str]) -> set[str]:
    """Which of the stamps stay."""
    stay: set[str] = set(found[-1:])
    for most, form in RETENTION:
        newest = {datetime.datetime.strptime(stamp, STAMP).strftime(form): stamp for stamp in sorted(found)}
        stay.update(stamp for _, stamp in sorted(newest.items())[-most:])
    return stay


def let_go(folder: Path) -> list[str]:
    """Removes what is old; gives which."""
    found = stamps(folder)
    gone = [stamp for stamp in found if stamp not in retained(found)]
    for stamp in gone:
        (folder / f"{stamp}{INDEX}").unlink()
        (folder / stamp).rename(folder / f"{DRAFT}{stamp}")
        shutil.rmtree(folder / f"{DRAFT}{stamp}")
    return gone


def main() -> None:
    told: Any = settings("nfs")
    with alone(Path(told["snapshots"]) / ".lock"):
        take_all(told)


def take_all(told: Any) -> None:
    wanted, failed = sys.argv[1:], []
    for share in told["shares"]:
        if wanted and share["name"] not in wanted:
            continue
        folder, stamp = Path(told["snapshots"]) / share["name"], datetime.datetime.now(datetime.UTC).strftime(STAMP)
        try:
            done = take(Path(told["root"] + share["path"]), folder, stamp, plain=told.get("plain_copies", False))
            gone = let_go(folder)
        except OSError as error:  # the other shares have theirs all the same
            failed.append(share["name"])
            say(f"ERROR: no snapshot of share {share['name']}: {error}")
            continue
        say(f"{share['name']} {stamp}: {done['new']} new, {done['linked']} as they were, {len(gone)} snapshots gone")
    if failed:
        raise SystemExit(f"ERROR: no snapshot of {', '.join(failed)}")


if __name__ == "__main__":
    os.umask(0o077)
    main()
