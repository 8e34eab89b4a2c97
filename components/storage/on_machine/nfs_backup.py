"""Brings what is new in the newest snapshot of each share to the fleet bucket: nfs_backup.py [SHARE …].

Content lies in packs that are never changed, and an index names for each file of a snapshot its place in one. An
index is written last: a backup is there when its index is. This host may delete nothing; packs expire in the bucket
(components/storage/places.py), so a file whose pack is near that is brought once more.
"""

import contextlib
import datetime
import hashlib
import json
import os
import secrets
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from machine import CHUNK_BYTES, Refused, say, settings, write
from nfs_index import FILE, Entry, Writer, alone, beside, read, same
from nfs_snapshot import INDEX, STAMP, stamps
from site_identity import SiteAws

STATE = Path("/var/lib/landbridge/nfs")
REPORT = STATE / "backup.json"
# Small files travel together, a larger one has a pack of its own.
PACK_BYTES = 64 << 20
# An index is good for 30 days if none of its packs is older than 60 when it is written: they last 90. Packs are spread
# over the days before that, or all of the first backup would be due on one night.
REFRESH_DAYS, SPREAD_DAYS = 60, 20


class Packs:
    """Where content goes: `add` says where in the bucket a file will lie, and has brought it there after `flush`."""

    def __init__(self, aws: Any, bucket: str, prefix: str, stamp: str) -> None:
        # By chance, too: who begins in the same second, on a server that is thought to be gone, writes over no pack.
        self.aws, self.bucket, self.begin = aws, bucket, f"{prefix}/packs/{stamp}-{secrets.token_hex(4)}"
        self.number, self.sent_bytes = 0, 0
        self.draft = STATE / f"pack-{os.getpid()}"
        self.file: BinaryIO = self.draft.open("wb")

    def key(self) -> str:
        return f"{self.begin}-{self.number:06}"

    def add(self, path: Path) -> dict[str, Any]:
        size = path.stat().st_size
        if size >= PACK_BYTES:
            return self._alone(path, size)
        if self.file.tell() + size > PACK_BYTES:
            self.flush()
        offset, digest = self.file.tell(), hashlib.sha256()
        for chunk in chunks(path):
            digest.update(chunk)
            self.file.write(chunk)
        return {"pack": self.key(), "offset": offset, "sha256": digest.hexdigest()}

    def _alone(self, path: Path, size: int) -> dict[str, Any]:
        self.flush()
        digest = hashlib.sha256()
        for chunk in chunks(path):
            digest.update(chunk)
        at = {"pack": self.key(), "offset": 0, "sha256": digest.hexdigest()}
        self.aws.upload(self.bucket, self.key(), path, {})
        self.number, self.sent_bytes = self.number + 1, self.sent_bytes + size
        return at

    def flush(self) -> None:
        if self.file.tell():
            self.file.close()
            self.aws.upload(self.bucket, self.key(), self.draft, {})
            self.sent_bytes += self.draft.stat().st_size
            self.number += 1
            self.file = self.draft.open("wb")

    def close(self) -> None:
        self.file.close()
        self.draft.unlink(missing_ok=True)


def chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def lasts(at: dict[str, Any], now: datetime.datetime) -> bool:
    """Whether a pack is young enough for one more index."""
    moment = at["pack"].rpartition("/")[2].partition("Z")[0] + "Z"
    age = now - datetime.datetime.strptime(moment, STAMP).replace(tzinfo=datetime.UTC)
    return age.days < REFRESH_DAYS - zlib.crc32(at["pack"].encode()) % SPREAD_DAYS


class Share:
    """One share's backups; `place` is the settings' `backup`."""

    def __init__(self, aws: Any, place: dict[str, str], name: str, snapshots: Path) -> None:
        self.aws, self.bucket, self.name, self.snapshots = aws, place["bucket"], name, snapshots
        self.prefix = f"{place['prefix']}/{name}"
        self.state = STATE / name

    def bring(self) -> dict[str, Any]:
        """What was brought. Raises Refused, OSError, or LookupError where there is no snapshot."""
        found = stamps(self.snapshots)
        if not found:
            raise LookupError("there is no snapshot yet")
        stamp, before = found[-1], self.last()
        if before and before.name == f"{stamp}{INDEX}":
            return {"stamp": stamp, "files": 0, "bytes": 0}
        index, now = self.state / f"{stamp}{INDEX}", datetime.datetime.now(datetime.UTC)
        packs, new = Packs(self.aws, self.bucket, self.prefix, now.strftime(STAMP)), 0
        with contextlib.closing(packs):
            olds = read(before) if before else iter(())
            with Writer(index.with_name(f"draft-{index.name}")) as draft:
                for entry, old in beside(read(self.snapshots / f"{stamp}{INDEX}"), olds):
                    if entry["kind"] == FILE:
                        new += self.place(entry, old, packs, self.snapshots / stamp, now)
                    draft.add(entry)
                packs.flush()
        self.aws.upload(self.bucket, f"{self.prefix}/index/{index.name}", draft.path, {"new-files": str(new)})
        draft.path.replace(index)
        for other in self.state.glob(f"[0-9]*{INDEX}"):
            if other != index:
                other.unlink()
        return {"stamp": stamp, "files": new, "bytes": packs.sent_bytes}

    def place(self, entry: Entry, old: Entry | None, packs: Packs, tree: Path, now: datetime.datetime) -> int:
        """Says in the entry where its content lies; 1 if that had to be brought."""
        if old is not None and same(entry, old) and lasts(old["at"], now):
            entry["at"], entry["kept_bytes"] = old["at"], old["kept_bytes"]
            return 0
        copy = tree / entry["path"]
        entry["at"], entry["kept_bytes"] = packs.add(copy), copy.stat().st_size
        return 1

    def last(self) -> Path | None:
        """The newest backup's index; a new server gets it from the bucket."""
        self.state.mkdir(parents=True, exist_ok=True)
        if found := sorted(self.state.glob(f"[0-9]*{INDEX}")):
            return found[-1]
        listed = indexes(self.aws, self.bucket, self.prefix)
        if not listed:
            return None
        there = self.state / listed[-1].rpartition("/")[2]
        there.write_bytes(self.aws.ask("GET", "s3", f"/{self.bucket}/{listed[-1]}"))
        return there


def indexes(aws: Any, bucket: str, prefix: str) -> list[str]:
    """Keys, the oldest first. They expire, so that a thousand are more than there can be."""
    return sorted(aws.keys(bucket, f"{prefix}/index/", ""))


def main() -> None:
    told: Any = settings("nfs")
    STATE.mkdir(parents=True, exist_ok=True)
    with alone(STATE / "backup.lock"):
        bring(told)


def bring(told: Any) -> None:
    aws, failed = SiteAws(told["backup"]["region"], told["identity"]), []
    report: dict[str, Any] = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    for share in told["shares"]:
        name = share["name"]
        if not share["backup"] or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        try:
            done = Share(aws, told["backup"], name, Path(told["snapshots"]) / name).bring()
        except (Refused, OSError, LookupError) as error:  # the other shares leave all the same
            failed.append(name)
            say(f"ERROR: no backup of share {name}: {' '.join(str(error).split())}")
            continue
        report[name] = done
        write(REPORT, json.dumps(report))
        say(f"{name} {done['stamp']}: {done['files']} new files, {done['bytes']} bytes brought")
    if failed:
        raise SystemExit(f"ERROR: no backup of {', '.join(failed)}")


if __name__ == "__main__":
    os.umask(0o077)
    main()
