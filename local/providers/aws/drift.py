"""Lays what the cloud reports over what the program asked for, so that only real drift shows as a difference."""

from typing import Any

from ..compare import same


def overlay(wanted: Any, actual: Any) -> Any:
    """`wanted` where the cloud agrees with it, the cloud's value where it does not.

    Keys of objects that the program never mentioned are the cloud's own business and are left out.
    """
    if same(wanted, actual):
        return wanted
    if isinstance(wanted, dict) and isinstance(actual, dict) and not _is_tags(wanted):
        laid = {key: overlay(value, actual.get(key)) for key, value in wanted.items()}
        return {key: value for key, value in laid.items() if value is not None}
    if isinstance(wanted, list) and isinstance(actual, list) and len(wanted) == len(actual):
        left = list(actual)
        for item in wanted:
            match = next((other for other in left if same(overlay(item, other), item)), None)
            if match is None:
                return actual
            left.remove(match)
        return wanted
    return actual


def _is_tags(wanted: dict[str, Any]) -> bool:
    # A tag that somebody added is drift; a key of a nested object that the cloud filled in is not.
    return any(":" in key or key == "Name" for key in wanted)
