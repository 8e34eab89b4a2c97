"""The annotation pulumi.com/waitFor: `condition=NAME[=STATUS]`, `jsonpath={PATH}[=VALUE]`, or a JSON list of them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..servicer import ProviderError
from .ready import READY, Verdict, condition

Step = Callable[[Any], Iterator[Any]]
HELP = "write condition=NAME, condition=NAME=STATUS, jsonpath={.path}, jsonpath={.path}=VALUE, or a JSON list of those"
# .name or .na\.me | ['name'] | [3] | [*] | [?(@.name=="value")]
_STEP = re.compile(
    r"""\.(?P<name>(?:[^.\[\]\\]|\\.)+)
      | \['(?P<quoted>[^']+)'\]
      | \[(?P<index>\d+)\]
      | \[(?P<all>\*)\]
      | \[\?\(@\.(?P<key>\w+)\s*==\s*["'](?P<value>[^"']*)["']\)\]""",
    re.VERBOSE,
)


def wishes(text: str) -> list[str]:
    """The single wishes in an annotation. Raises ProviderError for one that can't be read."""
    try:
        listed = json.loads(text)
    except ValueError:
        listed = [text]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, str) for one in listed):
        raise ProviderError(f"pulumi.com/waitFor is {text!r}: {HELP}")
    for one in listed:
        _read(one)
    return listed


def judge(text: str, thing: Mapping[str, Any]) -> Verdict:
    """Whether the object has all that the annotation waits for."""
    for one in wishes(text):
        if not _read(one)(thing):
            return Verdict(ready=False, text=f"waiting for {one}")
    return READY


def _read(wish: str) -> Callable[[Mapping[str, Any]], bool]:
    how, _, rest = wish.partition("=")
    if how == "condition" and rest:
        kind, _, status = rest.partition("=")
        wanted = (status or "True").lower()
        return lambda thing: str(condition(thing, kind).get("status", "")).lower() == wanted
    found = re.fullmatch(r"\{(.+?)\}(?:=(.*))?", rest, re.DOTALL) if how == "jsonpath" else None
    if found is None:
        raise ProviderError(f"pulumi.com/waitFor is {wish!r}: {HELP}")
    steps, value = list(_steps(found[1], wish)), found[2]

    def met(thing: Mapping[str, Any]) -> bool:
        values: list[Any] = [thing]
        for step in steps:
            values = [inner for outer in values for inner in step(outer)]
        # One value only, as kubectl wait insists.
        return len(values) == 1 and (value is None or _text(values[0]) == value)

    return met


def _steps(path: str, wish: str) -> Iterator[Step]:
    path, at = path.removeprefix("$"), 0
    while at < len(path):
        part = _STEP.match(path, at)
        if part is None:
            raise ProviderError(
                f"pulumi.com/waitFor is {wish!r}: the local cloud can't read {path[at:]!r}; it knows "
                """.name, ['name'], [0], [*] and [?(@.name=="value")]"""
            )
        yield _step(part)
        at = part.end()


def _step(part: "re.Match[str]") -> Step:
    if part["index"] is not None:
        number = int(part["index"])
        return lambda value: iter(value[number : number + 1] if isinstance(value, list) else [])
    if part["all"]:
        return lambda value: iter(value if isinstance(value, list) else [])
    if part["key"]:
        key, wanted = part["key"], part["value"]
        return lambda value: (one for one in value if _text(one.get(key)) == wanted) if _dicts(value) else iter([])
    name = part["quoted"] or re.sub(r"\\(.)", r"\1", part["name"])
    return lambda value: iter([value[name]] if isinstance(value, dict) and name in value else [])


def _dicts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
