"""Settings of resources, in tables: a value that each must have, and what would be right."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, values


class Setting(NamedTuple):
    """`right` are the values that may stand at a path, None for what is left out.

    `unless` says of which resources nothing is asked, by their properties.
    """

    right: tuple[Any, ...]
    remedy: str
    unless: Callable[[dict[str, Any]], bool] | None = None


# Type → path → its setting.
Table = Mapping[str, Mapping[str, Setting]]


def judged(found: list[Item], table: Table) -> Iterator[Finding]:
    for item in of_types(found, table):
        for path, setting in table[item.type].items():
            if setting.unless is None or not setting.unless(item.props):
                yield from _judged(item, path, setting)


def _judged(item: Item, path: str, setting: Setting) -> Iterator[Finding]:
    settings = list(values(item.props, path)) or [None]
    if UNKNOWN in settings:
        yield undecidable(item, path)
        return
    for value in settings:
        if value not in setting.right:
            yield finding(item, path, f"{path} is {_shown(value)}", setting.remedy)


def _shown(value: Any) -> str:
    return "left out" if value is None else json.dumps(value, default=str)
