"""What an image is made of, as one digest: where it is the same, a bake would give the same image, bit for bit."""

import hashlib
import json
from pathlib import Path

from . import baked, rootfs
from .baked import Baked
from .errors import ImageError
from .lock import Lock, written
from .recipe import ImageSpec

# Beside an image's disks.
FILE = "made-of"
CODE = Path(__file__).parent


def key(spec: ImageSpec, locked: Lock, inputs: dict[str, object], programs: dict[str, Path]) -> str:
    """`inputs` is what else is written into the image. Reads each program whole; raises ImageError where one lacks."""
    for program in programs.values():
        rootfs.there(program)
    files = [file for tree in rootfs.trees(spec) for file in rootfs.files(tree)]
    parts = {
        "packages": written(locked),
        "driver": spec.driver_name,
        "units": [spec.enabled, spec.disabled, spec.masked],
        "most": spec.variant.most_mib,
        "programs": {name: baked.sha256(program) for name, program in sorted(programs.items())},
        "files": [[str(file.relative_to(CODE)), file.stat().st_mode & 0o100, baked.sha256(file)] for file in files],
        "code": {file.name: baked.sha256(file) for file in sorted(CODE.glob("*.py"))},
        **inputs,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def lying(home: Path, made_of: str) -> tuple[Path, Baked] | None:
    """The image of that key in a folder of images, whole as it was baked."""
    for file in sorted(home.glob(f"*/{FILE}")):
        if file.read_text() == made_of:
            try:
                image = baked.read(file.parent)
                for disk in image.disks:
                    baked.verified(file.parent, image, disk)
            except ImageError:
                # Damaged: it is baked anew.
                return None
            return file.parent, image
    return None
