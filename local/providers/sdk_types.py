"""What the installed SDK says a resource takes: its own argument classes are the schema, so no list is kept here."""

import difflib
import importlib
import inspect
import threading
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import pulumi
from pulumi import _types
from pulumi.runtime import rpc

from .codec import UNKNOWN

P = ParamSpec("P")
T = TypeVar("T")
PACKAGES = {
    "aws": "pulumi_aws",
    "azure-native": "pulumi_azure_native",
    "kubernetes": "pulumi_kubernetes",
    "random": "pulumi_random",
    "tls": "pulumi_tls",
}


@dataclass(frozen=True)
class Mistake:
    """`path` is the property, such as rules[0].bucketKeyEnabled; empty when the whole type is meant."""

    path: str
    reason: str


@dataclass(frozen=True)
class ObjectType:
    """Property types by wire name (camel case), and which must be there."""

    properties: dict[str, Any]
    required: frozenset[str]


class UnknownType(Exception):
    """The SDK has no such resource."""


_loading = threading.RLock()


def loads(function: Callable[P, T]) -> Callable[P, T]:
    """Each answer is made once, one at a time.

    SDKs load their modules when these are first asked for, and of two threads that ask at once one may get half a
    module: Python breaks circles of imports that wait for each other so.
    """
    made: dict[Any, T] = {}

    @wraps(function)
    def answer(*args: P.args, **named: P.kwargs) -> T:
        if args not in made:  # what is there is had without waiting
            with _loading:
                if args not in made:
                    made[args] = function(*args, **named)
        return made[args]

    return answer


@loads
def resource_class(token: str) -> type[pulumi.Resource]:
    """Class of a token such as aws:ec2/vpc:Vpc. Raises UnknownType."""
    package, module, _ = token.split(":")
    importlib.import_module(PACKAGES[package])
    registered: Any = rpc.get_resource_module(package, module, "")
    if registered is not None and token in registered.mod_info["classes"]:
        home = importlib.import_module(registered.mod_info["fqn"])
        found: type[pulumi.Resource] = getattr(home, registered.mod_info["classes"][token])
        return found
    raise UnknownType(f"{PACKAGES[package]} has no resource type {token}")


@loads
def input_type(token: str) -> ObjectType:
    """What a resource takes. Raises UnknownType."""
    found = resource_class(token)
    home = importlib.import_module(found.__module__)
    # …InitArgs where a nested input has taken the plain name: BucketVersioning's, for one.
    return object_type(getattr(home, f"{found.__name__}InitArgs", None) or getattr(home, f"{found.__name__}Args"))


@loads
def object_type(args: type) -> ObjectType:
    names = _types.input_type_py_to_pulumi_names(args)
    hints = _types.input_type_types(args)
    parameters = inspect.signature(args).parameters
    required = {names[name] for name in names if parameters[name].default is inspect.Parameter.empty}
    return ObjectType({wire: hints.get(wire, Any) for wire in names.values()}, frozenset(required))


@loads
def output_names(token: str) -> frozenset[str]:
    """Wire names of every output that the SDK's class declares."""
    found = resource_class(token)
    properties = inspect.getmembers(found, lambda member: isinstance(member, property))
    return frozenset(getattr(member.fget, "_pulumi_name", name) for name, member in properties) - {"urn", "id"}


def mistakes(token: str, inputs: dict[str, Any]) -> list[Mistake]:
    """Every unknown, missing or wrongly typed property."""
    try:
        schema = input_type(token)
    except UnknownType as error:
        return [Mistake("", str(error))]
    return list(_object_mistakes("", schema, inputs))


def _object_mistakes(path: str, schema: ObjectType, value: dict[str, Any]) -> Iterator[Mistake]:
    for name in value:
        where = f"{path}.{name}" if path else name
        if name.startswith("__"):  # the engine's own, such as __defaults
            continue
        if name not in schema.properties:
            close = difflib.get_close_matches(name, schema.properties, 1)
            yield Mistake(where, f"no such property{f': did you mean {close[0]}?' if close else ''}")
        else:
            yield from _value_mistakes(where, schema.properties[name], value[name])
    for name in sorted(schema.required - value.keys()):
        yield Mistake(f"{path}.{name}" if path else name, "required and missing")


def _value_mistakes(path: str, expected: Any, value: Any) -> Iterator[Mistake]:
    choices = list(_choices(expected))
    if value is None or value == UNKNOWN or not choices or Any in choices or object in choices:
        return
    for choice in choices:
        origin, parameters = typing.get_origin(choice), typing.get_args(choice)
        if origin is not None and _is_sequence(origin) and isinstance(value, list):
            for n, item in enumerate(value):
                yield from _value_mistakes(f"{path}[{n}]", parameters[0], item)
            return
        if origin is not None and _is_mapping(origin) and isinstance(value, dict):
            for key, item in value.items():
                yield from _value_mistakes(f"{path}.{key}", parameters[1], item)
            return
        if _types.is_input_type(choice) and isinstance(value, dict):
            # Of several, such as criteria of one type or another, the one that is meant is the one that fits best.
            objects = [object_type(one) for one in choices if _types.is_input_type(one)]
            yield from min((list(_object_mistakes(path, one, value)) for one in objects), key=len)
            return
        if isinstance(choice, type) and (_is_scalar(choice, value) or _is_asset(choice, value)):
            return
    yield Mistake(path, f"expected {' or '.join(_word(choice) for choice in choices)}, got {value!r:.60}")


def _choices(expected: Any) -> Iterator[Any]:
    """Members of Input[Optional[...]] without the wrappers."""
    origin = typing.get_origin(expected)
    if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
        for part in typing.get_args(expected):
            yield from _choices(part)
    elif expected is type(None) or (inspect.isclass(origin) and issubclass(origin, pulumi.Output | typing.Awaitable)):
        return
    elif typing.is_typeddict(expected):
        return  # the dict form of an input type that stands beside it
    else:
        yield expected


def _is_sequence(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, typing.Sequence)


def _is_mapping(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, typing.Mapping)


def _is_scalar(choice: type, value: Any) -> bool:
    if choice is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if choice is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if issubclass(choice, str):  # enums of the SDK are strings
        return isinstance(value, str)
    return isinstance(value, choice)


def _is_asset(choice: type, value: Any) -> bool:
    """The engine passes assets and archives as objects with a mark of its own."""
    signatures = {pulumi.Asset: rpc._special_asset_sig, pulumi.Archive: rpc._special_archive_sig}
    return isinstance(value, dict) and choice in signatures and value.get(rpc._special_sig_key) == signatures[choice]


def _word(choice: Any) -> str:
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    origin = typing.get_origin(choice)
    if choice in words:
        return words[choice]
    if origin is not None:
        return "a list" if _is_sequence(origin) else "a mapping"
    return f"an object ({choice.__name__.removesuffix('Args')})" if inspect.isclass(choice) else str(choice)


def provider_mistakes(package: str, config: dict[str, Any]) -> list[Mistake]:
    """As `mistakes`, for the configuration of a provider resource."""
    schema = object_type(importlib.import_module(PACKAGES[package]).ProviderArgs)
    return list(_object_mistakes("", schema, {key: value for key, value in config.items() if key != "version"}))
