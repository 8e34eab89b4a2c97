"""Baked images that test modules share: each is baked once on a machine, and again when anything it is made of changes.

Whoever takes one leaves it as it is; test_bake.py spoils one of its own.
"""

import atexit
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from images import baked as on_disk
from images import lock, packages, recipe, resolve, running
from images.errors import ImageError

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / ".venv/bin/landbridge"
HOME = running.cache_folder("test-images")


def landbridge(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LANDBRIDGE_IMAGES": str(home)}
    return subprocess.run([COMMAND, "image", *words], capture_output=True, text=True, check=False, env=env)


def document(home: Path, *words: str) -> dict[str, Any]:
    done = landbridge(home, *words, "--json")
    assert done.returncode == 0, f"{done.stderr[-1000:]}\n{done.stdout[-3000:]}"
    return dict(json.loads(done.stdout))


def asked(variant: str = "cpu") -> recipe.ImageSpec:
    return recipe.select(recipe.load(), "debian-13", variant)


@cache
def locks(variant: str = "cpu") -> Path:
    """A folder with our lock; pinned anew, and that said aloud, where mirrors have dropped one of its packages."""
    own, folder = asked(variant), Path(tempfile.mkdtemp(prefix="landbridge-locks-"))
    atexit.register(shutil.rmtree, folder)
    shutil.copy(lock.place(own), folder)
    try:
        packages.fetch(lock.current(own, folder), own.base, running.cache_folder("packages"), lambda *_: None)
    except ImageError as error:
        warnings.warn(f"RUN `landbridge image lock {lock.words(own)}`: {error}", stacklevel=1)
        found = resolve.resolve(own, folder)
        found.file.write_text(lock.written(found))
    return folder


@cache
def baked(variant: str = "cpu") -> Path:
    """The folder of a variant's image, with its disks and root file system. Wants root."""
    HOME.mkdir(parents=True, exist_ok=True)
    # Modules run beside each other, and one of them bakes.
    with (HOME / f"{variant}.lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        folder = Path(document(HOME, "bake", "--variant", variant, "--locks", str(locks(variant)))["folder"])
        for other, image in on_disk.listed(HOME):
            if image.variant == variant and other != folder:
                on_disk.remove(other)
    return folder
