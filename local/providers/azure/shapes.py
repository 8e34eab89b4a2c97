"""Between the SDK's properties, flat, and ARM's bodies, nested: the same walk each way, along types and models."""

import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pulumi import _types

from .. import sdk_types
from ..codec import UNKNOWN, Properties
from .models import Place, place

Types = Mapping[str, Any]  # of properties, by the SDK's name


def to_wire(values: Mapping[str, Any], types: Types, model: type | None, *, top: bool = False) -> dict[str, Any]:
    """The body that says what `values` say. Only what has a type is in it."""
    body: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or name not in types:
            continue
        at = place(model, name, top=top)
        inner = body
        for part in at.path[:-1]:
            inner = inner.setdefault(part, {})
        inner[at.path[-1]] = _wire(value, types[name], at)
    return body


def _wire(value: Any, expected: Any, at: Place) -> Any:
    inner = object_types(expected, value)
    if isinstance(value, list):
        if at.mapping:  # such as the ids of an identity's users
            return {str(item): {} for item in value}
        return [_wire(item, expected, at) for item in value]
    if not isinstance(value, dict) or inner is None:
        return value
    if is_mapping(expected):
        return {key: to_wire(item, inner, at.model) if isinstance(item, dict) else item for key, item in value.items()}
    return to_wire(value, inner, at.model)


def to_sdk(body: Mapping[str, Any], types: Types, model: type | None, *, top: bool = False) -> Properties:
    """What the SDK has a property for, out of what ARM answers."""
    found: Properties = {}
    for name, expected in types.items():
        at = place(model, name, top=top)
        value: Any = body
        for part in at.path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            found[name] = _sdk(value, expected, at)
    return found


def _sdk(value: Any, expected: Any, at: Place) -> Any:
    inner = object_types(expected, value)
    if isinstance(value, list):
        return [_sdk(item, expected, at) for item in value]
    if not isinstance(value, dict) or inner is None:
        return value
    if is_mapping(expected):
        return {key: to_sdk(item, inner, at.model) if isinstance(item, dict) else item for key, item in value.items()}
    return to_sdk(value, inner, at.model)


def as_inputs(outputs: Mapping[str, Any], types: Types) -> Properties:
    """Outputs as a program could say them: without what is only ever answered."""
    return {name: _input(value, types[name]) for name, value in outputs.items() if name in types and value is not None}


def _input(value: Any, expected: Any) -> Any:
    if isinstance(value, list):
        return [_input_item(item, expected) for item in value]
    # An object whose keys are what a program gives as a list.
    return sorted(value) if isinstance(value, dict) and is_sequence(expected) else _input_item(value, expected)


def _input_item(value: Any, expected: Any) -> Any:
    inner = object_types(expected, value)
    if not isinstance(value, dict) or inner is None:
        return value
    if is_mapping(expected):
        return {key: as_inputs(item, inner) if isinstance(item, dict) else item for key, item in value.items()}
    return as_inputs(value, inner)


def foreseen(inputs: Mapping[str, Any], types: Types) -> Properties:
    """Inputs as outputs will say them: what a program gives as a list may be the keys of an object there."""
    return {name: _foreseen(value, types[name]) if name in types else value for name, value in inputs.items()}


def _foreseen(value: Any, expected: Any) -> Any:
    if isinstance(value, list) and is_mapping(expected) and not is_sequence(expected):
        return UNKNOWN if UNKNOWN in value else {key: {} for key in value}
    inner = object_types(expected, value)
    if not isinstance(value, dict) or inner is None or is_mapping(expected):
        return value
    return foreseen(value, inner)


@cache
def output_types(token: str) -> Types:
    """What a resource has, by the SDK's names."""
    found = dict(_types.resource_types(sdk_types.resource_class(token)))
    found.pop("azureApiVersion", None)
    return found


def object_types(expected: Any, value: Any = None) -> Types | None:
    """The properties of the object that a type is, or is a list or a mapping of; None where it has none.

    Of several, such as criteria of one type or another, those that fit `value` best.
    """
    found: list[Types] = []
    for choice in _flat(expected):
        if _types.is_input_type(choice):
            found.append(sdk_types.object_type(choice).properties)
        elif _types.is_output_type(choice):
            found.append(_outputs(choice))
    keys = set(value) if isinstance(value, Mapping) else set()
    return max(found, key=lambda types: len(keys & types.keys()), default=None)


@cache
def _outputs(of: type) -> Types:
    return dict(_types.output_type_types(of))


def is_mapping(expected: Any) -> bool:
    return any(sdk_types._is_mapping(origin) for origin in _generic_origins(expected))


def is_sequence(expected: Any) -> bool:
    return any(sdk_types._is_sequence(origin) for origin in _generic_origins(expected))


def _generic_origins(expected: Any) -> Iterator[Any]:
    return (origin for choice in sdk_types._choices(expected) if (origin := typing.get_origin(choice)) is not None)


def _flat(expected: Any) -> Iterator[Any]:
    for choice in sdk_types._choices(expected):
        if typing.get_origin(choice) is None:
            yield choice
        else:
            for inner in typing.get_args(choice):
                yield from _flat(inner)
