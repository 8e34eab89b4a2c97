"""Whether a name that is unique in the world is free: what POST …/checkNameAvailability answers."""

import re
from typing import Any


def answer(name: str, pattern: re.Pattern[str], taken: str) -> dict[str, Any]:
    """`taken` is what is said of a name that somebody has; empty for one that nobody has."""
    if not pattern.fullmatch(name):
        return {"nameAvailable": False, "reason": "AccountNameInvalid", "message": f"{name} is not a valid name."}
    return {"nameAvailable": False, "reason": "AlreadyExists", "message": taken} if taken else {"nameAvailable": True}
