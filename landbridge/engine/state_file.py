"""A stack's state read straight out of a file backend, which costs no start of Pulumi."""

import json
from pathlib import Path
from typing import Any

from landbridge.errors import LandbridgeError


def read_state(file: Path) -> dict[str, Any] | None:
    """A stack's deployment; None if there is no such stack."""
    if not file.exists():
        return None
    try:
        latest: dict[str, Any] = json.loads(file.read_bytes())["checkpoint"]["latest"] or {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise LandbridgeError(
            f"the stack's state cannot be read: {file}: {why}. Restore the file from a backup; for the local cloud "
            "`landbridge local forget` will do: the next run starts clean"
        ) from None
    return latest
