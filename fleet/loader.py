"""Reads a fleet file: YAML, then shape (pydantic) and rules. All problems at once, each with its line."""

import datetime
import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from .errors import FleetError, Problem
from .model import Fleet
from .partial import mentions, valid_part
from .rules import violations
from .yaml import Lines, plain, read
from .yaml_subset import GOOD_NAME


class Loaded(NamedTuple):
    """A fleet with the lines of its entries, for errors that are found later."""

    fleet: Fleet
    lines: Lines
    file: str


def load(path: Path) -> Fleet:
    """The fleet in a file. Raises FleetError."""
    return load_with_lines(path).fleet


def load_with_lines(path: Path) -> Loaded:
    """Raises FleetError with every problem of the file."""
    data, lines = read(path)
    raw, dropped, problems = plain(data), set[str](), list[Problem]()
    try:
        fleet: Fleet | None = Fleet.model_validate(raw)
    except ValidationError as error:
        problems += _shape_problems(path.name, lines, error)
        fleet, dropped = valid_part(raw, error)
    broken = [v for v in violations(fleet) if not mentions(v.what, dropped)] if fleet else []
    problems += (Problem(path.name, lines.of(v.entry), v.what, v.remedy) for v in broken)
    if problems or fleet is None:
        raise FleetError(problems)
    return Loaded(fleet, lines, path.name)


def _shape_problems(file: str, lines: Lines, error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        path = tuple(part for part in detail["loc"] if part != "[key]")
        what, remedy = _unquoted(path, detail, lines) or _words(path, detail)
        yield Problem(file, lines.of(path), what, remedy)


def _words(path: Sequence[int | str], detail: ErrorDetails) -> tuple[str, str]:
    """Pydantic's error in the fleet's words: what is wrong, what would be right."""
    where, kind, given = ".".join(str(part) for part in path), detail["type"], detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = _known_keys(path[:-1])
        close = difflib.get_close_matches(str(path[-1]), known, 1)
        return f"{where} is not known", f"Perhaps you mean {close[0]}" if close else f"Known here: {', '.join(known)}"
    if kind == "missing":
        meaning = _describe(path)
        return f"{where} is missing", f"Add {path[-1]}: {meaning}" if meaning else f"Add {path[-1]}"
    if detail["loc"][-1:] == ("[key]",):
        return f"{given!r} is not a good name", GOOD_NAME
    if kind == "string_pattern_mismatch":
        meaning = _describe(path)
        form = f"the form {context['pattern']}"
        return f"{where} is {given!r}", f"It must be {meaning}: {form}" if meaning else f"It must have {form}"
    if kind == "value_error":
        return str(context["error"]), "Write four numbers from 0 to 255, for a prefix its first address"
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


def _unquoted(path: Sequence[int | str], detail: ErrorDetails, lines: Lines) -> tuple[str, str] | None:
    """Text that is a number or a date to YAML. 1.30 is 1.3 to it and 012 is 12: what counts is what was written."""
    if (
        detail["type"] != "string_type"
        or isinstance(detail["input"], bool)
        or not isinstance(detail["input"], _UNQUOTED)
    ):
        return None
    text = lines.written(tuple(path)) or str(detail["input"])
    what = f"{'.'.join(str(part) for part in path)} is {text}"
    pattern = _pattern(path)
    if pattern and not re.match(pattern, text):
        # In quotes it would be refused next.
        return what, f"It must be {_describe(path) or f'text of the form {pattern}'}"
    return what, f'It must be text, in quotes: "{text}"'


def _model_at(path: Sequence[int | str]) -> type[BaseModel] | None:
    """The model whose keys stand at this path."""
    model: type[BaseModel] | None = Fleet
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


def _known_keys(path: Sequence[int | str]) -> list[str]:
    model = _model_at(path)
    return sorted(model.model_fields) if model else []


def _field(path: Sequence[int | str]) -> FieldInfo | None:
    parts = [part for part in path if isinstance(part, str)]
    model = _model_at(parts[:-1]) if parts else None
    return model.model_fields.get(parts[-1]) if model and parts else None


def _pattern(path: Sequence[int | str]) -> str | None:
    """What a field's text must look like, if the model says so."""
    field = _field(path)
    return next((part.pattern for part in field.metadata if getattr(part, "pattern", None)), None) if field else None


def _describe(path: Sequence[int | str]) -> str:
    """What the model says of a field; empty when it says nothing."""
    field = _field(path)
    if field is None:
        return ""
    if field.description:
        return field.description
    for part in field.metadata:
        if text := getattr(part, "description", None):
            return str(text)
    return ""
