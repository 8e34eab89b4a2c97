"""What is wrong with the shape of a YAML file, in words of the model that it should fit."""

import datetime
import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from .errors import Problem
from .yaml import Lines
from .yaml_subset import GOOD_NAME

Model = type[BaseModel]


def shape_problems(model: Model, file: str, lines: Lines | None, error: ValidationError) -> Iterator[Problem]:
    """Every one with its line, where `lines` are known; `model` is that of the whole file."""
    for detail in error.errors(include_url=False):
        path = tuple(part for part in detail["loc"] if part != "[key]")
        unquoted = _unquoted(model, path, detail, lines) if lines else None
        what, remedy = unquoted or _words(model, path, detail)
        yield Problem(file, lines.of(path) if lines else None, what, remedy)


def _words(model: Model, path: Sequence[int | str], detail: ErrorDetails) -> tuple[str, str]:
    """Pydantic's error in the file's words: what is wrong, what would be right."""
    where, kind, given = ".".join(str(part) for part in path), detail["type"], detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = _known_keys(model, path[:-1])
        close = difflib.get_close_matches(str(path[-1]), known, 1)
        return f"{where} is not known", f"Perhaps you mean {close[0]}" if close else f"Known here: {', '.join(known)}"
    if kind == "missing":
        meaning = _describe(model, path)
        return f"{where} is missing", f"Add {path[-1]}: {meaning}" if meaning else f"Add {path[-1]}"
    if detail["loc"][-1:] == ("[key]",):
        return f"{given!r} is not a good name", GOOD_NAME
    if kind == "string_pattern_mismatch":
        meaning = _describe(model, path)
        form = f"the form {context['pattern']}"
        return f"{where} is {given!r}", f"It must be {meaning}: {form}" if meaning else f"It must have {form}"
    if kind == "value_error":
        # What is wrong and what would be right, else it is about an address.
        what, *remedy = context["error"].args
        return str(what), remedy[0] if remedy else "Write four numbers from 0 to 255, for a prefix its first address"
    if kind == "literal_error":
        return f"{where} is {given!r}", f"It must be {context['expected']}"
    if kind.endswith("_type") or kind == "model_attributes_type":
        return f"{where} is {_type_word(given)}", f"It must be {_type_names.get(kind, kind)}"
    if kind in _BOUNDS:
        sign, key = _BOUNDS[kind]
        return f"{where} is {given}", f"It must be {sign} {context[key]}"
    if kind in _COUNTS:
        what, remedy = _COUNTS[kind]
        return f"{where} {what.format(**context)}", remedy.format(**context)
    return f"{where} is {given!r}", detail["msg"]


_COUNTS = {
    "too_short": ("is empty", "Give at least {min_length}"),
    "too_long": ("has {actual_length} entries", "Give at most {max_length}"),
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("more than", "gt"),
    "string_too_short": ("longer: characters needed:", "min_length"),
}
_type_names = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, such as [a, b]",
    "dict_type": "a mapping of names to entries",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}


def _type_word(given: object) -> str:
    words = {dict: "a mapping", list: "a list", type(None): "empty"}
    if isinstance(given, datetime.date | bool):
        return f"{given}".lower()
    if isinstance(given, str) and "PRIVATE KEY" in given:
        return "a private key"  # never the thing itself
    return words.get(type(given), f"{given!r}")


_UNQUOTED = (int, float, datetime.date)


def _unquoted(model: Model, path: Sequence[int | str], detail: ErrorDetails, lines: Lines) -> tuple[str, str] | None:
    """Text that is a number or a date to YAML. 1.30 is 1.3 to it and 012 is 12: what counts is what was written."""
    if (
        detail["type"] != "string_type"
        or isinstance(detail["input"], bool)
        or not isinstance(detail["input"], _UNQUOTED)
    ):
        return None
    text = lines.written(tuple(path)) or str(detail["input"])
    what = f"{'.'.join(str(part) for part in path)} is {text}"
    pattern = _pattern(model, path)
    if pattern and not re.match(pattern, text):
        # In quotes it would be refused next.
        return what, f"It must be {_describe(model, path) or f'text of the form {pattern}'}"
    return what, f'It must be text, in quotes: "{text}"'


def _model_at(whole: Model, path: Sequence[int | str]) -> Model | None:
    """The model whose keys stand at this path."""
    model: Model | None = whole
    parts = list(path)
    while parts and model is not None:
        field = model.model_fields.get(str(parts.pop(0)))
        if field is None:
            return None
        models = [part for part in _flatten(field.annotation) if isinstance(part, type) and issubclass(part, BaseModel)]
        holds_many = any(part in (dict, list) for part in _flatten(field.annotation))
        if holds_many and parts:
            parts.pop(0)
        model = models[0] if models else None
    return model


def _flatten(annotation: Any) -> Iterator[Any]:
    yield getattr(annotation, "__origin__", annotation)
    for part in getattr(annotation, "__args__", ()):
        yield from _flatten(part)


def _known_keys(model: Model, path: Sequence[int | str]) -> list[str]:
    found = _model_at(model, path)
    return sorted(found.model_fields) if found else []


def _field(model: Model, path: Sequence[int | str]) -> FieldInfo | None:
    parts = [part for part in path if isinstance(part, str)]
    found = _model_at(model, parts[:-1]) if parts else None
    return found.model_fields.get(parts[-1]) if found and parts else None


def _pattern(model: Model, path: Sequence[int | str]) -> str | None:
    """What a field's text must look like, if the model says so."""
    field = _field(model, path)
    return next((part.pattern for part in field.metadata if getattr(part, "pattern", None)), None) if field else None


def _describe(model: Model, path: Sequence[int | str]) -> str:
    """What the model says of a field; empty when it says nothing."""
    field = _field(model, path)
    if field is None:
        return ""
    if field.description:
        return field.description
    for part in field.metadata:
        if text := getattr(part, "description", None):
            return str(text)
    return ""
