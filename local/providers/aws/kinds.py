"""The words in which the tables of AWS resources are written. `engine` acts on them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Template = Any  # nested dicts, lists and constants with the markers below in them


class P(NamedTuple):
    """The value of an input property; left out when the program does not set it and there is no default."""

    name: str
    default: Any = None
    convert: Callable[[Any], Any] | None = None


class Added(NamedTuple):
    """What a list property has now and had not before."""

    name: str


class Removed(NamedTuple):
    """What a list property had before and has no more."""

    name: str


class Out(NamedTuple):
    """A property of the recorded state, for deletes."""

    name: str


class Each(NamedTuple):
    """A list property, item by item: `convert` gets the item and the resource's id. `only` is Added or Removed."""

    name: str
    convert: Callable[[Any, str], Any]
    only: type = Added


class Marker(NamedTuple):
    """A value the engine knows: the resource's id, its tags, their keys, a token that makes creation idempotent."""

    name: str


class Arn(NamedTuple):
    """The resource's ARN, where a call wants that in place of its id: `form` with {region}, {account} and {id}."""

    form: str


ID, TAGS, TAG_KEYS, TOKEN = Marker("id"), Marker("tags"), Marker("tag_keys"), Marker("token")


class Call(NamedTuple):
    """One operation of boto3. `take` is a JMESPath into the answer, in which $name stands for a property or the id."""

    operation: str
    params: Mapping[str, Template]
    take: str = "@"
    optional: bool = False  # "not found" means nothing here rather than that the resource is gone
    when: str | None = None  # only if this property of inputs (create, update) or state (delete) is set
    when_recorded: str | None = None  # only if this property of the recorded state is set


@dataclass(frozen=True)
class Change:
    """Calls that bring these properties up to date; after `create` too where the API can't take them there."""

    properties: tuple[str, ...]
    calls: tuple[Call, ...]
    on_create: bool = False


@dataclass(frozen=True)
class Tagging:
    """How one service tags."""

    add: Call
    remove: Call
    read: Call | None = None  # None: the description holds them
    # Operation → type of resource: these tag what they create, so that no kill comes between the two.
    created: Mapping[str, str] = field(default_factory=dict)
    key: str = "Key"
    value: str = "Value"
    as_map: bool = False  # the API takes a map where others take a list of pairs


class Found(NamedTuple):
    """What an output is computed from when a path is not enough."""

    id: str
    region: str
    account: str
    inputs: Mapping[str, Any]
    answer: Mapping[str, Any]


Output = str | Callable[[Found], Any]


@dataclass(frozen=True)
class Kind:
    """One resource type. `outputs`: property → JMESPath into the description (other reads under their names)."""

    service: str
    create: Call
    read: Call
    delete: tuple[Call, ...]
    outputs: Mapping[str, Output]
    replace: frozenset[str] = frozenset()
    more: Mapping[str, Call] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    after_create: tuple[Call, ...] = ()
    tagging: Tagging | None = None
    missing: tuple[str, ...] = ()
    make_id: Callable[[Any, Mapping[str, Any]], str] | None = None
    autoname: str | None = None  # property that gets NAME-<7 hex> when it is left out
    delete_first: bool = False
    accepts: tuple[str, ...] = ()  # properties that say how to work, not what to make
    clear: Callable[[Any, str, Mapping[str, Any]], None] | None = None  # with client, id and state, before a delete
    failure: str | None = None  # JMESPath to the message in an answer that looks like success


def props(*names: str) -> dict[str, P]:
    """cidrBlock → CidrBlock=P("cidrBlock"): how most of EC2 spells its parameters."""
    return {name[0].upper() + name[1:]: P(name) for name in names}


def same_paths(*names: str) -> dict[str, Output]:
    """The same for outputs."""
    return {name: name[0].upper() + name[1:] for name in names}


def replaces(*names: str) -> frozenset[str]:
    return frozenset(names)


def known_properties(kind: Kind) -> frozenset[str]:
    """Inputs the kind acts on. Others are refused: the local cloud never says yes to what it does not do."""
    calls = [kind.create, *(call for change in kind.changes for call in change.calls)]
    named = {marker.name for call in calls for marker in _markers(call.params)}
    changed = {name for change in kind.changes for name in change.properties}
    tags = {"tags"} if kind.tagging else set()
    return frozenset(named | changed | tags | set(kind.accepts) | {"region"})


def _markers(template: Template) -> Iterable[P]:
    if isinstance(template, P):
        yield template
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from _markers(value)
    elif isinstance(template, list):
        for value in template:
            yield from _markers(value)
