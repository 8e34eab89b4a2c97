"""Brings a backup of a share back: nfs_restore.py SHARE [--to FOLDER] [--at STAMP] [--only PATH] [--list].

Without --to it goes where the share is served from. What is there already with the right size and time is left, so a
restore that was stopped goes on; what is there and differs is never written over without --replace.
"""

import argparse
import hashlib
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine import Refused, say, settings
from nfs_backup import PACK_BYTES, STATE, indexes
from nfs_index import FOLDER, LINK, Entry, read
from nfs_snapshot import INDEX
from site_identity import SiteAws

HELD_PACKS = 8


class Packs:
    """Content by its place in the bucket. The last few packs are held, for neighbours lie in one."""

    def __init__(self, aws: Any, bucket: str) -> None:
        self.aws, self.bucket = aws, bucket
        self.held: OrderedDict[str, bytes] = OrderedDict()

    def content(self, entry: Entry) -> Iterator[bytes]:
        at, size = entry["at"], entry["kept_bytes"]
        place = f"/{self.bucket}/{at['pack']}"
        if size >= PACK_BYTES:
            for begin in range(0, size, PACK_BYTES):
                last = min(size, begin + PACK_BYTES) - 1
                yield self.aws.ask("GET", "s3", place, headers={"range": f"bytes={begin}-{last}"})
            return
        if at["pack"] not in self.held:
            self.held[at["pack"]] = self.aws.ask("GET", "s3", place) if size else b""
            if len(self.held) > HELD_PACKS:
                self.held.popitem(last=False)
        yield self.held[at["pack"]][at["offset"] : at["offset"] + size]


class Restore:
    """`differing` are paths that were there and differ: they were left as they are."""

    def __init__(self, packs: Packs, target: Path, *, replace: bool = False) -> None:
        self.packs, self.target, self.replace = packs, target, replace
        self.files, self.left = 0, 0
        self.differing: list[str] = []
        self.folders: list[Entry] = []

    def run(self, entries: Iterator[Entry]) -> None:
        for entry in entries:
            place = self.target / entry["path"]
            if entry["kind"] == FOLDER:
                place.mkdir(parents=True, exist_ok=True)
                self.folders.append(entry)
            elif self.wanted(place, entry):
                self.file(place, entry)
        for entry in reversed(self.folders):
            self.like(self.target / entry["path"], entry)

    def wanted(self, place: Path, entry: Entry) -> bool:
        try:
            told = place.lstat()
        except FileNotFoundError:
            place.parent.mkdir(parents=True, exist_ok=True)
            return True
        done = (
            place.is_symlink() and str(place.readlink()) == entry["target"]
            if entry["kind"] == LINK
            else (told.st_size, told.st_mtime_ns) == (entry["kept_bytes"], entry["modified_ns"])
        )
        if done:
            self.left += 1
        elif not self.replace:
            self.differing.append(entry["path"])
        return not done and self.replace

    def file(self, place: Path, entry: Entry) -> None:
        draft = place.with_name(f".landbridge-{os.getpid()}")
        if entry["kind"] == LINK:
            draft.unlink(missing_ok=True)
            draft.symlink_to(entry["target"])
        else:
            digest = hashlib.sha256()
            with draft.open("wb") as file:
                for chunk in self.packs.content(entry):
                    digest.update(chunk)
                    file.write(chunk)
            if digest.hexdigest() != entry["at"]["sha256"]:
                draft.unlink()
                raise SystemExit(
                    f"ERROR: {entry['path']}: what lies in {entry['at']['pack']} is not what was put there"
                )
        self.like(draft, entry)
        draft.replace(place)
        self.files += 1

    def like(self, place: Path, entry: Entry) -> None:
        """Owners as they were; who is not root keeps their own."""
        if os.geteuid() == 0:
            os.chown(place, entry["uid"], entry["gid"], follow_symlinks=False)
        if entry["kind"] != LINK:
            place.chmod(entry["mode"])
            os.utime(place, ns=(entry["modified_ns"], entry["modified_ns"]))


def below(entries: Iterator[Entry], only: str) -> Iterator[Entry]:
    """Of a path and what is in it; with the folders above, so that they are made as they were."""
    wanted = only.strip("/")
    for entry in entries:
        path = entry["path"]
        above = entry["kind"] == FOLDER and (not path or f"{wanted}/".startswith(f"{path}/"))
        if not wanted or path == wanted or path.startswith(f"{wanted}/") or above:
            yield entry


def chosen(listed: list[str], at: str | None, share: str) -> str:
    """The key of the index. Raises SystemExit where there is none."""
    known = [key.rpartition("/")[2].removesuffix(INDEX) for key in listed]
    if not known:
        raise SystemExit(f"ERROR: there is no backup of share {share}")
    if at is not None and at not in known:
        raise SystemExit(f"ERROR: there is no backup of share {share} of {at}. There are: {', '.join(known)}")
    return listed[known.index(at)] if at else listed[-1]


def main() -> None:
    asked = argparse.ArgumentParser(description="Brings a backup of a share back.")
    asked.add_argument("share")
    asked.add_argument("--to", type=Path, help="another folder than the share's own")
    asked.add_argument("--at", help="which backup, as --list shows them; the newest if left out")
    asked.add_argument("--only", default="", help="a file or folder within the share")
    asked.add_argument("--replace", action="store_true", help="write over files that differ")
    asked.add_argument("--list", action="store_true", help="show which backups there are")
    given, told = asked.parse_args(), settings("nfs")
    restore(given, told)


def restore(given: Any, told: Any) -> None:
    shares = {share["name"]: share for share in told["shares"]}
    if given.share not in shares:
        raise SystemExit(f"ERROR: there is no share {given.share}. Known: {', '.join(shares)}")
    if told["backup"] is None:
        raise SystemExit("ERROR: the fleet file wants no backups (storage.backups)")
    aws, place = SiteAws(told["backup"]["region"], told["identity"]), told["backup"]
    try:
        listed = indexes(aws, place["bucket"], f"{place['prefix']}/{given.share}")
        if given.list:
            sys.stdout.write("".join(key.rpartition("/")[2].removesuffix(INDEX) + "\n" for key in listed))
            return
        key = chosen(listed, given.at, given.share)
        STATE.mkdir(parents=True, exist_ok=True)
        index = STATE / f"restore-{os.getpid()}{INDEX}"
        try:
            index.write_bytes(aws.ask("GET", "s3", f"/{place['bucket']}/{key}"))
            work = Restore(
                Packs(aws, place["bucket"]),
                given.to or Path(told["root"] + shares[given.share]["path"]),
                replace=given.replace,
            )
            work.run(below(read(index), given.only))
        finally:
            index.unlink(missing_ok=True)
    except (Refused, OSError) as error:
        raise SystemExit(f"ERROR: {' '.join(str(error).split())}. Run it again: it goes on where it was") from None
    say(f"{key}: {work.files} files came back to {work.target}, {work.left} were there")
    if work.differing:
        shown = ", ".join(work.differing[:10])
        raise SystemExit(
            f"ERROR: {len(work.differing)} files are there and differ ({shown}): --replace writes over them"
        )


if __name__ == "__main__":
    main()
