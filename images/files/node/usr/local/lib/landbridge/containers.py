"""Gives containerd the containers' images that came with this machine's image, once.

Each is pinned: kubelet deletes none of them where disks fill up, since no registry may be in reach. What containerd has
is deleted here, for it would be there twice.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path("/var/lib/landbridge/containers")
CTR = ("/usr/local/bin/ctr", "--namespace", "k8s.io")
# containerd says that it has started a moment before it answers.
PATIENCE_SECONDS = 60
# What kubelet's garbage collection looks at (containerd, docs/cri/crictl.md).
PINNED = "io.cri-containerd.pinned=pinned"


def ctr(*words: str) -> str:
    """Why it failed; empty if it did not."""
    done = subprocess.run([*CTR, *words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or str(done.returncode)


def answered() -> str:
    last = time.monotonic() + PATIENCE_SECONDS
    while why := ctr("version"):
        if time.monotonic() > last:
            return why
        time.sleep(0.2)
    return ""


def main(folder: Path = FOLDER) -> int:
    if why := answered():
        print(f"containerd does not answer: {why}", file=sys.stderr)
        return 1
    failed = False
    for one in json.loads((folder / "list.json").read_text()):
        archive = folder / one["file"]
        if not archive.exists():
            continue
        why = ctr("images", "import", str(archive)) or ctr("images", "label", one["name"], PINNED)
        if why:
            print(f"{one['name']}: {why}", file=sys.stderr)
            failed = True
        else:
            archive.unlink()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
