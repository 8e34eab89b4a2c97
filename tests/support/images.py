"""Baked images that tests share: made once for a recipe, kept in the user's cache like what a person bakes."""

import fcntl
import hashlib
import json
import os
import subprocess
from pathlib import Path

from images import bake as baking
from images import baked, running

from .cloud import COMMAND, ROOT

# What an image is made of, beside the packages that its lock names: our files, and the pins of programs.
MADE_OF = ("images", "tools/containerd", "tools/kubelet", "tools/kubernetes")
SECONDS = 1500


def the(variant: str) -> Path:
    """The folder of this checkout's image of a variant. Wants root, and minutes where nobody has baked it yet."""
    home = running.made(baking.home(), "")
    stamp = home / f".tested-{variant}-{_digest()}"
    with (home / f".baking-{variant}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = home / stamp.read_text() if stamp.exists() else None
        if folder is None or not (folder / baked.DOCUMENT).exists():
            words = [COMMAND, "image", "bake", "--variant", variant, "--json"]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS, env=os.environ)
            assert done.returncode == 0, done.stderr
            folder = Path(json.loads(done.stdout)["folder"])
            stamp.write_text(folder.name)
    return folder


def _digest() -> str:
    """Of all files that decide what an image is."""
    digest = hashlib.sha256()
    for part in MADE_OF:
        for file in sorted((ROOT / part).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:12]
