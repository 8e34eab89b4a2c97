"""Which parts of a fleet a program reads: `watch` has every one written down, with a digest of its value.

A part is a path of names from the fleet on. What is read as a whole (dumped, compared, copied, hashed) counts as a
whole, and so does every value that is neither an entry nor a mapping: nothing is read past this. The address plan is
one part: no prefix moves when another kind of entry changes. The order of names counts: programs go by it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .address.plan import AddressPlan
from .fields import Model
from .model import Fleet

Path = tuple[str, ...]
# How a part was read: its value, which names a mapping has, or whether it has one.
VALUE, NAMES, HAS = "value", "names", "has"
PLAN = "plan"
Read = tuple[str, ...]  # (how, *path)
Note = Callable[[Read, str], None]
ABSENT = "absent"
# What stands in files beside the fleet file: each is a file that a program has read.
BESIDE = "__pydantic_private__"
# Of an entry, what only its class has: methods, and what pydantic needs to make one.
_own = object.__getattribute__


def watch(fleet: Fleet, plan: AddressPlan, note: Note) -> None:
    """From now on `note` hears each read of these two, once, with its digest. For the rest of the process."""
    watcher = _Watcher(fleet, plan, note)
    watcher.enter(fleet, ())

    def of_entry(entry: Model, name: str) -> Any:
        return watcher.of_entry(entry, name)

    def of_plan(plan: AddressPlan, name: str) -> Any:
        return watcher.of_plan(plan, name)

    Model.__getattribute__ = of_entry  # type: ignore[method-assign,assignment]
    AddressPlan.__getattribute__ = of_plan  # type: ignore[method-assign,assignment]


def digest_of(fleet: Fleet, plan: AddressPlan, read: Read) -> str:
    """What `watch` would note for this read in another fleet."""
    how, *path = read
    if how == PLAN:
        return _digest(_plain(plan))
    if how == HAS:
        there = _at(fleet, tuple(path[:-1]))
        return _digest(there is not ABSENT and path[-1] in _items(there))
    there = _at(fleet, tuple(path))
    return ABSENT if there is ABSENT else _digest(list(_items(there)) if how == NAMES else _plain(there))


class _Watcher:
    def __init__(self, fleet: Fleet, plan: AddressPlan, note: Note) -> None:
        self.fleet, self.plan, self.note = fleet, plan, note
        self.paths: dict[int, list[Path]] = {}  # a default entry stands in several places
        self.recorded: set[Read] = set()

    def enter(self, entry: Model, path: Path) -> None:
        """Knows an entry, and those below it, by where they stand."""
        self.paths.setdefault(id(entry), []).append(path)
        values = _own(entry, "__dict__")
        for name, value in list(values.items()):
            if isinstance(value, Model):
                self.enter(value, (*path, name))
            elif isinstance(value, dict):
                if not isinstance(value, Watched):
                    value = values[name] = Watched(value)
                value.places.append((self, (*path, name)))
                for key, inner in dict.items(value):
                    if isinstance(inner, Model):
                        self.enter(inner, (*path, name, str(key)))

    def of_entry(self, entry: Model, name: str) -> Any:
        if paths := self.paths.get(id(entry)):
            if name in type(entry).__pydantic_fields__:
                value = _own(entry, name)
                if not isinstance(value, Model | Watched):
                    self.hear(VALUE, paths, name)
                return value
            if name == "__dict__" or (name.startswith(("model_", "__pydantic_")) and name != BESIDE):
                self.hear(VALUE, paths)
        return _own(entry, name)

    def of_plan(self, plan: AddressPlan, name: str) -> Any:
        if plan is self.plan and (PLAN,) not in self.recorded:
            self.recorded.add((PLAN,))
            self.note((PLAN,), digest_of(self.fleet, plan, (PLAN,)))
        return _own(plan, name)

    def hear(self, how: str, paths: list[Path], *name: str) -> None:
        for path in paths:
            read = (how, *path, *name)
            if read not in self.recorded:
                self.recorded.add(read)
                self.note(read, digest_of(self.fleet, self.plan, read))


class Watched(dict[Any, Any]):
    """A mapping of a watched fleet: as it was, but tells what is asked of it."""

    def __init__(self, of: dict[Any, Any]) -> None:
        super().__init__(of)
        self.places: list[tuple[_Watcher, Path]] = []

    def _tell(self, how: str, *name: Any) -> None:
        for watcher, path in self.places:
            watcher.hear(how, [path], *map(str, name))

    def _value(self, key: Any) -> Any:
        value = dict.get(self, key)
        if not isinstance(value, Model):
            self._tell(VALUE, key)
        return value

    def __getitem__(self, key: Any) -> Any:
        self._tell(HAS, key)
        if not dict.__contains__(self, key):
            raise KeyError(key)
        return self._value(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self._tell(HAS, key)
        return self._value(key) if dict.__contains__(self, key) else default

    def __contains__(self, key: object) -> bool:
        self._tell(HAS, key)
        return dict.__contains__(self, key)

    def __iter__(self) -> Iterator[Any]:
        self._tell(NAMES)
        return dict.__iter__(self)

    def __reversed__(self) -> Iterator[Any]:
        self._tell(NAMES)
        return dict.__reversed__(self)

    def __len__(self) -> int:
        self._tell(NAMES)
        return dict.__len__(self)

    def keys(self) -> Any:
        self._tell(NAMES)
        return dict.keys(self)

    def values(self) -> Any:
        return [self._value(key) for key in self]

    def items(self) -> Any:
        return [(key, self._value(key)) for key in self]

    def copy(self) -> dict[Any, Any]:
        return dict(self.items())

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __or__(self, other: dict[Any, Any]) -> dict[Any, Any]:
        return self.copy() | other

    def __ror__(self, other: dict[Any, Any]) -> dict[Any, Any]:
        return other | self.copy()

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    __hash__ = None


def _items(value: Any) -> Mapping[str, Any]:
    """What stands below a part, by name; nothing below a value."""
    if isinstance(value, Model):
        values: Mapping[str, Any] = _own(value, "__dict__")
        return values
    return {str(key): inner for key, inner in dict.items(value)} if isinstance(value, dict) else {}


def _at(part: Any, path: Path) -> Any:
    for name in path:
        below = _items(part)
        if name not in below:
            return ABSENT
        part = below[name]
    return part


def _plain(value: Any) -> Any:
    if isinstance(value, Model | dict):
        return {name: _plain(inner) for name, inner in _items(value).items()}
    if isinstance(value, AddressPlan):
        entries = _own(value, "_entries").items()
        return [_own(value, "supernet"), [[name, str(one.block), str(one.since)] for name, one in entries]]
    if isinstance(value, list | tuple | set | frozenset):
        found = [_plain(inner) for inner in value]
        return found if isinstance(value, list | tuple) else sorted(found, key=str)
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
