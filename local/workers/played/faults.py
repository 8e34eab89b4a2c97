"""What is done to a machine's GPUs, from outside: written onto its disk, where state.py reads it at each question."""

import json
from pathlib import Path
from typing import Any

from local.workers.hardware import FILE

from .state import FAULTS

Json = dict[str, Any]


def place(disk: Path, name: str) -> Path:
    return disk / FILE.with_name(name).relative_to("/")


def number(disk: Path) -> int:
    """How many GPUs a machine has by its disk; none where nothing tells."""
    file = place(disk, FILE.name)
    return int(json.loads(file.read_text()).get("gpus", 0)) if file.exists() else 0


def change(disk: Path, gpu: int, what: Json) -> Json:
    """What ails this GPU from now on; an Xid is one more. Raises OSError, ValueError."""
    file = place(disk, FAULTS)
    told = json.loads(file.read_text()) if file.exists() else {}
    gpus = told.setdefault("gpus", {})
    now: Json = gpus.get(str(gpu)) or {}
    gpus[str(gpu)] = {**now, **what, "xids": [*now.get("xids", ()), *what.get("xids", ())]}
    write(file, told)
    return dict(gpus[str(gpu)])


def heal(disk: Path, gpu: int) -> None:
    """Raises OSError, ValueError."""
    file = place(disk, FAULTS)
    if file.exists():
        told = json.loads(file.read_text())
        told.get("gpus", {}).pop(str(gpu), None)
        write(file, told)


def write(file: Path, told: Json) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(told, indent=1) + "\n")
    fresh.chmod(0o644)
    fresh.replace(file)
