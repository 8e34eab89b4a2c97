"""Takes a snapshot of an etcd ring, checks it and puts it into the fleet bucket: etcd_backup.py RING [--now].

Every member's timer runs this. The leader does it at once; each other member waits its turn and does it only if no
new snapshot is there by then, so that a leader that fails leaves no gap. With --now this member does it in any case.

Where the fleet file wants copies, a snapshot goes to the second region as soon as home has it. No machine may look into
that region's bucket: a note at home, beside the snapshot, says that its copy is made. A copy that fails is an error and
leaves no note, so that the next member in turn takes another snapshot and tries for itself.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cloud import Cloud, cloud
from machine import CHUNK_BYTES, Refused, say
from ring import Ring

FOLDER = Path("/var/lib/landbridge/backup")
STAGGER_SECONDS = 60.0
DIGEST_BYTES = 32
STAMP = "%Y-%m-%dT%H%M%SZ"
SNAPSHOT, NOTE = ".db", ".copied"


def whole(path: Path) -> str:
    """The digest of a snapshot. etcd ends it with the digest of all before; raises ValueError if that does not fit."""
    inner, outer = hashlib.sha256(), hashlib.sha256()
    left = path.stat().st_size - DIGEST_BYTES
    with path.open("rb") as file:
        while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
            inner.update(chunk)
            outer.update(chunk)
            left -= len(chunk)
        told = file.read()
    outer.update(told)
    if told != inner.digest():
        raise ValueError(f"the snapshot {path} is damaged: its own digest does not fit")
    return outer.hexdigest()


def is_done(home: Cloud, bucket: str, prefix: str, minutes: float, end: str) -> bool:
    """Whether somebody put a snapshot there within so many minutes, or the note that its copy is made."""
    after = datetime.fromtimestamp(time.time() - minutes * 60, UTC).strftime(STAMP)
    try:
        listed = home.keys(bucket, prefix, prefix + after)
    except Refused as refused:
        # A snapshot too many is better than one too few.
        say(f"cannot tell what is in {home.url(bucket, prefix)}: {refused}")
        return False
    # Below the prefix are folders of other things, too, whose names come after any time.
    found = [key for key in listed if key.endswith(end) and "/" not in key[len(prefix) :]]
    if found:
        say(f"{found[-1]} is there: nothing to do")
    return bool(found)


def take(ring: Ring, path: Path) -> dict[str, str]:
    """Writes a checked snapshot of this member; gives what to tell of it."""
    taken = datetime.now(UTC).strftime(STAMP)
    version = ring.status().version
    ring.ctl("snapshot", "save", str(path))
    status = ["/usr/local/bin/etcdutl", "snapshot", "status", "--write-out=json", str(path)]
    told = json.loads(subprocess.run(status, capture_output=True, text=True, check=True).stdout)
    return {
        "taken": taken,
        "cluster": ring.settings["cluster"],
        "ring": ring.name,
        "member": ring.machine,
        "revision": str(told["revision"]),
        "keys": str(told["totalKey"]),
        "version": version,
        "sha256": whole(path),
    }


def copy(home: Cloud, told: Any, key: str, path: Path, about: dict[str, str]) -> dict[str, Any]:
    """Puts the snapshot into the second region's bucket; says where, and the error if it did not get there."""
    region, bucket = told["copies"]["region"], told["copies"]["bucket"]
    place = told["copies"]["place"] + key[len(told["backups"]) :]
    there = cloud(region)
    made: dict[str, Any] = {"region": region, "bucket": bucket, "key": place, "error": None}
    try:
        there.upload(bucket, place, path, about)
        home.put(told["bucket"], f"{key[: -len(SNAPSHOT)]}{NOTE}", json.dumps({**made, **about}).encode())
    except (Refused, OSError) as error:
        made["error"] = f"no copy in {region} at {there.url(bucket, place)}: {' '.join(str(error).split())}"
    return made


def seconds(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


def main() -> None:
    ring, at_once = Ring(sys.argv[1]), "--now" in sys.argv[2:]
    told: Any = ring.settings
    home, bucket, prefix = cloud(told["region"]), told["bucket"], f"{told['backups']}/{ring.name}/"
    status = ring.status()
    if not at_once and status.leader != status.member:
        time.sleep(STAGGER_SECONDS * (1 + told["members"].index(told["host"])))
        end = NOTE if told.get("copies") else SNAPSHOT
        if is_done(home, bucket, prefix, told["rings"][ring.name]["backup_minutes"] / 2, end):
            return
    began = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{ring.name}-{os.getpid()}.db"
    for old in FOLDER.glob(f"{ring.name}-*"):
        if not Path(f"/proc/{old.name.removeprefix(f'{ring.name}-').partition('.')[0]}").exists():
            old.unlink()
    try:
        about = take(ring, path)
        key = f"{prefix}{about['taken']}-{about['revision']}{SNAPSHOT}"
        home.upload(bucket, key, path, about)
        found: dict[str, Any] = {"bucket": bucket, "key": key, "bytes": path.stat().st_size, **about}
        say(f"{home.url(bucket, key)}: revision {about['revision']}, {found['bytes']} bytes, {seconds(began)}")
        found["copy"] = copy(home, told, key, path, about) if told.get("copies") else None
    finally:
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".part").unlink(missing_ok=True)
    sys.stdout.write(json.dumps(found) + "\n")
    if (made := found["copy"]) and made["error"]:
        raise SystemExit(f"ERROR: {made['error']}. The snapshot itself is whole, at home: {home.url(bucket, key)}")
    if made:
        say(f"{home.url(made['bucket'], made['key'])}: its copy in {made['region']}, {seconds(began)}")


if __name__ == "__main__":
    main()
