"""What the GPUs of this machine are like: how many it has, who holds them, and what was done to them.

Three files in one folder tell it: hardware.json of whoever started the machine, gpus.json of its kubelet, and
gpu-faults.json of whoever wants to see a failure. They are read at each question:

    {"driver": "gone",
     "gpus": {"0": {"xids": [31, 79]}, "3": {"lost": true}, "5": {"double_bit": 2, "remap_failed": 1, "gpu_c": 95}}}

`xids` grow: what is new in them is an event. All else stands over a figure of h100.toml, or is one that it has not.
"""

import contextlib
import json
import os
import time
import tomllib
import uuid
from pathlib import Path
from typing import Any

from local.workers.hardware import FILE

FOLDER = "LANDBRIDGE_LOCAL_GPUS"
HELD, FAULTS = "gpus.json", "gpu-faults.json"
RECORDED: dict[str, Any] = tomllib.loads(Path(__file__).with_name("h100.toml").read_text())
Json = dict[str, Any]


def read(name: str) -> Json:
    """Nothing where there is none, or not a whole one."""
    found: Any = {}
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((Path(os.environ.get(FOLDER) or FILE.parent) / name).read_text())
    return found if isinstance(found, dict) else {}


def number() -> int:
    return int(read(FILE.name).get("gpus", 0))


def driver() -> bool:
    """A machine without GPUs has none."""
    return number() > 0 and not read(FAULTS).get("driver")


def fault(index: int) -> Json:
    return dict((read(FAULTS).get("gpus") or {}).get(str(index)) or {})


def uuid_of(index: int) -> str:
    """Another one on each machine, and the same as long as it is there."""
    node = read(HELD).get("node", "")
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{node}')}"


def figures(index: int) -> Json:
    """Now. One that holds it keeps it busy."""
    form = "busy" if str(index) in (read(HELD).get("held") or {}) else "idle"
    return {**RECORDED[form], **fault(index)}


class Energy:
    """It is in no recorded form: power makes it, from the first question on."""

    def __init__(self) -> None:
        self.of: dict[int, tuple[float, float]] = {}

    def millijoules(self, index: int, milliwatts: int) -> int:
        now = time.monotonic()
        total, before = self.of.get(index, (0.0, now))
        self.of[index] = total + milliwatts * (now - before), now
        return int(self.of[index][0])
