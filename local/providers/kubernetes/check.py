"""What a program's manifest must be before anybody is asked, and what is filled in: kind, name, namespace."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pulumi.runtime.proto import provider_pb2

from .. import sdk_types
from ..codec import UNKNOWN, Properties
from ..naming import autoname
from ..sdk_types import Mistake
from ..servicer import ProviderError
from . import wait_for
from .objects import (
    ANNOTATIONS,
    AUTONAMED,
    LISTS,
    PREFIX,
    TIMEOUT,
    UNDERSCORED,
    WAIT_FOR,
    Type,
    annotation,
    flag,
    meta,
    name_of,
    namespace_of,
    normal,
    renamed,
    type_of,
)

Autonaming = provider_pb2.CheckRequest.AutonamingOptions


class Naming(NamedTuple):
    """What the engine says about names. `proposed` is from the project's pulumi:autonaming."""

    name: str
    seed: bytes
    proposed: str = ""
    disabled: bool = False


def mistakes(token: str, inputs: Properties) -> list[Mistake]:
    """What can be told without a cluster."""
    type_ = type_of(token, inputs)
    if type_ is None:
        return [Mistake("", "the local cloud makes objects of the API only (kubernetes:GROUP/VERSION:KIND), no charts")]
    known = _in_sdk(token)
    if known and type_.kind.endswith(LISTS):
        return [Mistake("", "a list can't be made: make the objects in it")]
    found = []
    if known:
        # Types of values are the API's to judge: it takes 1 for "1" where a quantity stands.
        reported = sdk_types.mistakes(token, renamed(inputs, UNDERSCORED))
        found = [one for one in reported if one.reason.startswith(("no such property", "required"))]
    found += _wrong_identity(type_, inputs)
    return found + list(_wrong_annotations(inputs))


def _in_sdk(token: str) -> bool:
    try:
        sdk_types.resource_class(token)
    except sdk_types.UnknownType:
        return False
    return True


def _wrong_identity(type_: Type, inputs: Properties) -> list[Mistake]:
    found = [
        Mistake(name, f"is {inputs[name]!r}, but the resource's type is {wanted}")
        for name, wanted in (("apiVersion", type_.api_version), ("kind", type_.kind))
        if inputs.get(name) not in (None, UNKNOWN, wanted)
    ]
    if meta(inputs).get("generateName"):
        found.append(Mistake("metadata.generateName", "is not possible with server-side apply: give metadata.name"))
    if type_.patch and not name_of(inputs):
        found.append(Mistake("metadata.name", "required: a patch must say which object it is for"))
    return found


def _wrong_annotations(inputs: Properties) -> list[Mistake]:
    annotations = meta(inputs).get("annotations")
    if not isinstance(annotations, dict):
        return []
    found = [
        Mistake(f'metadata.annotations["{name}"]', "the local cloud does not act on it: leave it out")
        for name in sorted(annotations)
        if name.startswith(PREFIX) and name not in ANNOTATIONS
    ]
    seconds = annotation(inputs, TIMEOUT)
    if seconds and seconds != UNKNOWN and not seconds.isdecimal():
        found.append(Mistake(f'metadata.annotations["{TIMEOUT}"]', f"is {seconds!r}, not a number of seconds"))
    wish = annotation(inputs, WAIT_FOR)
    if wish and wish != UNKNOWN:
        try:
            wait_for.wishes(wish)
        except ProviderError as error:
            found.append(Mistake(f'metadata.annotations["{WAIT_FOR}"]', str(error)))
    return found


def filled(
    token: str,
    olds: Properties,
    news: Properties,
    naming: Naming,
    default_namespace: str,
    namespaced: Callable[[Mapping[str, Any]], bool | None],
) -> Properties:
    """The manifest with what its program left to us. `namespaced` gives None when nobody can tell."""
    type_ = type_of(token, news)
    assert type_ is not None  # else it is a mistake
    thing: Properties = {"apiVersion": type_.api_version, "kind": type_.kind, **normal(news)}
    if thing.get("metadata") == UNKNOWN:
        return thing
    metadata = dict(thing.get("metadata") or {})
    if metadata.get("name") is None:
        if flag(olds, AUTONAMED):
            metadata["name"] = name_of(olds)
        elif naming.disabled:
            raise ProviderError("autonaming is disabled in this project: give metadata.name")
        else:
            metadata["name"] = naming.proposed or autoname(naming.name, naming.seed)
        if metadata.get("annotations") != UNKNOWN:
            metadata["annotations"] = {**(metadata.get("annotations") or {}), AUTONAMED: "true"}
    if default_namespace and metadata.get("namespace") is None:
        lives_in_one = namespaced(thing)
        if lives_in_one or (lives_in_one is None and namespace_of(olds) == default_namespace):
            metadata["namespace"] = default_namespace
    return {**thing, "metadata": metadata}
