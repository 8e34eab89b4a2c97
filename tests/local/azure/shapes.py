"""Whether JSON is what Azure's own models say: no attribute they do not have, no value of another type or enum.

The models are read by their annotations (today's packages) or their attribute maps (older ones): parsing alone would
take anything.
"""

import datetime
import functools
import importlib
import sys
import types
import typing
from enum import Enum
from typing import Any


def problems(model: Any, body: Any, at: str = "") -> list[str]:
    """What of `body` does not fit the model, one line each."""
    at = at or model.__name__
    if not isinstance(body, dict):
        return [f"{at}: {body!r} is no object"]
    fields = _fields(model)
    found = [f"{at}.{name}: {model.__name__} has no such attribute" for name in body if name not in fields]
    for name, value in body.items():
        if name in fields:
            found += _of_value(fields[name], value, f"{at}.{name}")
    return found


@functools.cache
def _fields(model: Any) -> dict[str, Any]:
    """Type by name on the wire."""
    if hasattr(model, "_attribute_map"):
        return _old_fields(model)
    model({})  # works out the fields of its class
    hints: dict[str, Any] = {}
    for base in reversed(model.__mro__):
        package = base.__module__.rpartition(".")[0]
        if package.endswith(".models"):
            known = {**vars(sys.modules[base.__module__]), "_models": importlib.import_module(package)}
            own = dict(vars(base).get("__annotations__", {}))
            hints |= typing.get_type_hints(types.SimpleNamespace(__annotations__=own), known)
    return {field._rest_name: hints[name] for name, field in model._attr_to_rest_field.items()}


def _old_fields(model: Any) -> dict[str, Any]:
    """Keys such as "properties.roleDefinitionId" are made trees: a dict of fields where others have a type."""
    home = sys.modules[model.__module__.rpartition(".")[0]]
    found: dict[str, Any] = {}
    for entry in model._attribute_map.values():
        *path, last = entry["key"].split(".")
        inner = found
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = _old_type(entry["type"], home)
    return found


def _old_type(name: str, home: Any) -> Any:
    if name.startswith("["):
        return list[_old_type(name[1:-1], home)]  # type: ignore[misc]
    if name.startswith("{"):
        return dict[str, _old_type(name[1:-1], home)]  # type: ignore[misc]
    plain = {"str": str, "int": int, "bool": bool, "float": float, "long": int, "iso-8601": datetime.datetime}
    return plain.get(name) or getattr(home, name, Any)


def _of_value(hint: Any, value: Any, at: str) -> list[str]:
    if hint is Any or value is None:
        return []
    if isinstance(hint, dict):  # a tree of an old model
        strange = [f"{at}.{name}: there is no such attribute" for name in value if name not in hint]
        return strange + [
            line for name, one in value.items() if name in hint for line in _of_value(hint[name], one, f"{at}.{name}")
        ]
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _of_union([one for one in of if one is not type(None)], value, at)
    if origin is typing.Literal:
        return [] if value in of else [f"{at}: {value!r} is none of {of}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{at}: {value!r} is no list"]
        return [line for n, one in enumerate(value) for line in _of_value(of[0], one, f"{at}[{n}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{at}: {value!r} is no object"]
        return [line for name, one in value.items() for line in _of_value(of[1], one, f"{at}[{name}]")]
    if isinstance(hint, type) and (hasattr(hint, "_attribute_map") or getattr(hint, "_is_model", False)):
        return problems(hint, value, at)
    return _of_scalar(hint, value, at)


def _of_union(of: list[Any], value: Any, at: str) -> list[str]:
    """`Union[str, SomeEnum]` is that enum: Azure tells of no other value."""
    enums = [one for one in of if isinstance(one, type) and issubclass(one, Enum)]
    tried = [_of_value(one, value, at) for one in (enums if enums and len(of) == len(enums) + 1 else of)]
    return min(tried, key=len)


def _of_scalar(hint: Any, value: Any, at: str) -> list[str]:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [] if value in [one.value for one in hint] else [f"{at}: {value!r} is no {hint.__name__}"]
    if hint is datetime.datetime:
        if not isinstance(value, int):  # vaults tell seconds since 1970
            datetime.datetime.fromisoformat(str(value))
        return []
    wanted: Any = {float: (int, float), int: int, str: str, bool: bool}.get(hint)
    if wanted is None:
        return []
    fits = isinstance(value, wanted) and (hint is bool or not isinstance(value, bool))
    return [] if fits else [f"{at}: {value!r} is no {hint.__name__}"]
