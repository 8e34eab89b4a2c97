"""What all clouds hold, as one. Pure."""

from collections.abc import Iterable
from typing import Any

# What nobody has told of yet is empty.
NOTHING: dict[str, Any] = {
    **{name: [] for name in ("machines", "networks", "hubs", "connections", "volumes", "zones", "resolvers")},
    **{name: [] for name in ("balancers", "buckets", "regions", "names", "vnets", "gateways", "spread")},
    "groups": {},
    "forwards": [],
    "restless": False,
}


def merged(worlds: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Lists one behind the other, dicts one in the other; true if one says so. A cloud may have what no other has."""
    found = dict(NOTHING)
    for world in worlds:
        for name, value in world.items():
            before = found.get(name)
            match value:
                case list():
                    found[name] = [*(before or ()), *value]
                case dict():
                    found[name] = {**(before or {}), **value}
                case _:
                    found[name] = before or value
    return found
