"""What the local Azure knows of a type of resource: one `Kind` each, in the files of `local.azure.resources`.

A kind's functions get a `Write`: the world they act in, and the resource before and after. They raise ArmError for what
Azure refuses, by its own code and status; nothing is kept by then.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import ArmError
from .ids import Id
from .operations import Operations
from .store import Resource, Store


@dataclass
class World:
    """What a resource can look at and act on. `kinds` are all there are, by their types in small letters.

    `kept`: somebody makes machines of what is written. `activity` is local.azure.activity's log, oldest first.
    """

    store: Store
    operations: Operations
    kinds: Mapping[str, "Kind"]
    kept: bool = False
    activity: list[Any] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        """What is kept of it: kinds are the program's."""
        return {name: value for name, value in vars(self).items() if name != "kinds"}

    def kind(self, id_: Id) -> "Kind":
        """Raises ArmError for a type that the local Azure does not have: it never says yes to what it does not do."""
        found = self.kinds.get(id_.type.lower())
        if found is None:
            message = f"The resource type '{id_.type}' could not be found: the local Azure does not have it."
            raise ArmError(404, "InvalidResourceType", message)
        return found


@dataclass
class Write:
    """One write. `new` is kept when it is over; `old` is None when it is made.

    `body` is what the caller sent, whole. In an action, `new` is `old`, and `caller` is the principal's object id.
    """

    world: World
    new: Resource
    old: Resource | None
    body: dict[str, Any]
    caller: str = ""
    version: str = ""  # the call's api-version
    within: Resource | None = None  # what lists it inline, as that will be
    beside: list[Resource] | None = None  # the others of that list

    @property
    def id(self) -> Id:
        return self.new.id

    @property
    def properties(self) -> dict[str, Any]:
        return self.new.properties

    @property
    def parent(self) -> Resource:
        """What it is a part of. Raises ArmError."""
        assert self.id.parent is not None
        return self.within or self.world.store.get(self.id.parent)

    @property
    def siblings(self) -> list[Resource]:
        """The other parts of its type, as they will be."""
        if self.beside is not None:
            return self.beside
        found = self.world.store.children(self.parent, self.id.type)
        return [one for one in found if one.id.key != self.id.key]


Check = Callable[[Write], None]


@dataclass(frozen=True)
class Later:
    """What an action answers that is begun and not over: `finish` does the rest and gives the operation's result.

    `undo` is what a planned fault does to it instead.
    """

    finish: Callable[[], Any]
    undo: Callable[[], None] = lambda: None


def nothing(_: Write) -> None:
    """For kinds that have nothing to check or to do."""


@dataclass(frozen=True)
class Kind:
    """One type.

    check: refuses what Azure refuses before it answers.
    begun: runs once a write is kept: sets going what is not over before the operation is.
    settle: fills in what Azure computes; runs when the operation is over, and its ArmError makes that fail.
    failed: cleans up after an operation that a planned fault ended.
    removing: refuses a delete; that of what others refer to is refused without it, unless `free` names their types.
    removed: takes away what goes with it elsewhere.
    subresources: property of `properties` that lists children inline → their type; a PUT without the property leaves
        them alone if `keeps_subresources`, else a PUT says all.
    check_action: refuses an action.
    actions: POST …/NAME → what it answers (None: 204), with a `Write` whose `body` is the call's; a `Later`: 202.
    views: what GET …/NAME, or PUT, answers that is no list, with a `Write` as actions have it and the method.
    hidden: properties, as dotted paths in `properties`, that are written and never told.
    known: all that `properties` may have; empty: anything.
    read_only: properties that a caller may send back and that are not taken from it.
    stateless: it tells no provisioningState.
    busy: its provisioningState while it is made, and while it is changed.
    untagged: it tells no etag; ETag is among the headers all the same.
    serial: a write of it holds what it is a part of, so that its siblings have to wait.
    in_use: the code of a delete that is refused because others refer to it, if it is not InUse…CannotBeDeleted.
    slow: methods that Azure answers before it is done.
    statuses: of a PUT that makes one, and of one that changes one.
    given: what is there without anybody's having made it, such as a built-in role.
    lists: takes the place of "all below": what a GET of the type at a scope lists, with the call's query.
    preempts: a write ends an earlier one that is still going on ("OperationPreempted"), and waits for no part's.
    expands: what $expand can name, in small letters → what is merged into properties then.
    evict: takes a spot machine's hardware away, by its policy. Raises ArmError.
    """

    type: str
    tracked: bool = True
    check: Check = nothing
    begun: Check = nothing
    settle: Check = nothing
    failed: Check = nothing
    removing: Check = nothing
    removed: Check = nothing
    subresources: Mapping[str, str] = field(default_factory=dict)
    keeps_subresources: bool = False
    actions: Mapping[str, Callable[[Write], Any]] = field(default_factory=dict)
    check_action: Check = nothing
    slow_actions: frozenset[str] = frozenset()
    views: Mapping[str, Callable[[Write, str], Any]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    read_only: tuple[str, ...] = ()
    serial: bool = False
    stateless: bool = False
    untagged: bool = False
    busy: tuple[str, str] = ("Creating", "Updating")
    in_use: str = ""
    slow: frozenset[str] = frozenset()
    preempts: bool = False
    expands: Mapping[str, Callable[[World, Resource], dict[str, Any]]] = field(default_factory=dict)
    evict: Callable[[World, Resource], None] | None = None
    free: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset(("GET", "PUT", "PATCH", "DELETE"))
    statuses: tuple[int, int] = (201, 200)
    given: Callable[[World, Id], Resource | None] | None = None
    lists: Callable[[World, str, Mapping[str, str]], Iterable[Resource]] | None = None
    computed: Callable[[World, Resource], dict[str, Any]] | None = (
        None  # what is computed at each read; merged into properties
    )


SLOW = frozenset(("PUT", "PATCH", "DELETE"))
