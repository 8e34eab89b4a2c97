"""Makes the folders of shares and homes and sets their quotas, as the fleet file has them. Deletes nothing.

A home of somebody who is no longer in the fleet file stays; a person whose uid has changed keeps their files' old
owner. Both are said, for people to decide.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import say, settings

XFS_QUOTA = "/usr/sbin/xfs_quota"
Run = Callable[[list[str]], None]


def make(root: Path, folder: dict[str, Any], *, ours: bool) -> None:
    """`ours`: owner and mode follow the fleet file at every start; a home's are its person's after its birth."""
    place = root / folder["path"].lstrip("/")
    born = not place.exists()
    place.mkdir(parents=True, exist_ok=True)
    told = place.stat()
    if born or ours:
        os.chown(place, folder["uid"], folder["gid"])
        place.chmod(int(folder["mode"], 8))
    elif told.st_uid != folder["uid"]:
        say(f"{place} is uid {told.st_uid}'s, and the fleet file gives {folder['name']} uid {folder['uid']}: chown it")


def commands(root: Path, folders: list[dict[str, Any]]) -> list[list[str]]:
    """What xfs_quota is to do: every folder's project, and its limit; a limit of 0 is none."""
    found = []
    for folder in folders:
        if folder["project"] is not None:
            place, number = root / folder["path"].lstrip("/"), folder["project"]
            limit = f"limit -p bhard={folder['quota_gib'] or 0}g {number}"
            found.append([XFS_QUOTA, "-x", "-c", f"project -s -p {place} {number}", "-c", limit, str(root)])
    return found


def run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"ERROR: {' '.join(words)}: {done.stderr.strip()}")


def ready(told: dict[str, Any], run: Run = run) -> None:
    root = Path(told["root"])
    for share in told["shares"]:
        make(root, share, ours=True)
    for home in told["homes"]:
        make(root, home, ours=False)
    # Nobody but root writes there, and everybody walks through: each snapshot has its share's own modes.
    snapshots = Path(told["snapshots"])
    snapshots.mkdir(exist_ok=True)
    snapshots.chmod(0o755)
    for share in told["shares"]:
        (snapshots / share["name"]).mkdir(exist_ok=True)
        (snapshots / share["name"]).chmod(0o755)
    for share in told["shares"]:
        if share["name"] == "homes":
            known = {home["name"] for home in told["homes"]}
            left = sorted(one.name for one in (root / share["path"].lstrip("/")).iterdir() if one.name not in known)
            if left:
                say(f"homes of nobody in the fleet file: {', '.join(left)}. Move them away, or give them to somebody")
    for words in commands(root, [*told["shares"], *told["homes"]]):
        run(words)


if __name__ == "__main__":
    ready(settings("nfs"))
