"""What is left of a fleet file without its misshapen entries, so that rules can judge the rest in the same run."""

import copy
import re
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

from .model import Fleet

NAMED = ("regions", "sites", "clusters", "pools", "teams", "people")
LISTED = ("reserved", "ingress")


def valid_part(raw: dict[str, Any], error: ValidationError) -> tuple[Fleet | None, set[str]]:
    """The fleet without the entries that `error` names, and their names. None when what is left is no fleet."""
    left, dropped = copy.deepcopy(raw), set[str]()
    # Lists from behind: an entry taken out moves those that follow.
    for path in sorted({detail["loc"][:2] for detail in error.errors()}, key=str, reverse=True):
        match path:
            case (str(section), str(name)) if section in NAMED and isinstance(left.get(section), dict):
                entry = left[section].pop(name, None)
                dropped.add(name)
                if section == "pools" and isinstance(entry, dict):
                    dropped.add(f"none of kind {entry.get('kind')}")
            case (str(section), int(n)) if section in LISTED:
                left[section].pop(n)
            case (str(key), *_):
                left.pop(key, None)
                dropped.add(key)
    try:
        return Fleet.model_validate(left), dropped
    except ValidationError:
        return None, dropped


def mentions(text: str, names: Collection[str]) -> bool:
    """Whether a message speaks of one of the names: it would blame others for what is missing."""
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in names)
