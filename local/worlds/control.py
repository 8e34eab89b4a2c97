"""What a server answers to those who copy its folder, beside its cloud's calls.

flush: what was answered outlives a power cut. pause {"seconds": N}: calls wait so long, and files stay as they are.
resume: they go on.
"""

import json
from collections.abc import Callable
from typing import Any

from .world import StoredWorld

NAMES: dict[str, Callable[[StoredWorld, bytes], Any]] = {
    "flush": lambda world, _: world.flush(),
    "pause": lambda world, body: world.pause(float(json.loads(body)["seconds"])),
    "resume": lambda world, _: world.resume(),
}
CALLS = {("POST", name) for name in NAMES}


def answer(world: StoredWorld, name: str, body: bytes) -> tuple[str, Any]:
    try:
        return "200 OK", NAMES[name](world, body)
    except (KeyError, TypeError, ValueError) as error:
        return "400 Bad Request", f"{name}: {error}"
