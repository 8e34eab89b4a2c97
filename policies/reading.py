"""Resources as the rules see them: plain values in which an unknown one is marked, so that it can't pass silently.

The policy SDK raises at the first unknown value and then drops the whole policy with a mere note: a real violation
behind it would pass (see docs/guide/policies.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_policy import PolicyResource
from pulumi_policy.proxy import UnknownValueError


class Unknown:
    """The mark of a value that is known only after the update."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()
UNDECIDABLE = "undecidable:"
AZURE = "azure-native:"
# URN → what the program sets.
Given = dict[str, dict[str, Any]]


class Item(NamedTuple):
    """One resource of a stack. `provider` is its provider's name, None when it has none."""

    type: str
    name: str
    urn: str
    props: dict[str, Any]
    protect: bool
    provider: str | None

    @property
    def stack(self) -> str:
        return self.urn.split("::")[0].rpartition(":")[2]


class Finding(NamedTuple):
    """A violation at a path of a rule table. `what` names property and value, `remedy` what would be right."""

    type: str
    name: str
    urn: str
    path: str
    what: str
    remedy: str


def finding(item: Item, path: str, what: str, remedy: str) -> Finding:
    return Finding(item.type, item.name, item.urn, path, what, remedy)


def undecidable(item: Item, path: str) -> Finding:
    """A mandatory rule that can't judge fails: passing would be a guess."""
    what = f"{UNDECIDABLE} {path} is not known before the update"
    return finding(item, path, what, "Give it a value from configuration instead of another resource's output")


def unlisted(item: Item, path: str, prefix_list: object) -> Finding:
    """A prefix list is changed behind our back, so that what it holds now says nothing about tomorrow."""
    what = f"{UNDECIDABLE} {path} {prefix_list} stands for prefixes that no plan knows"
    return finding(item, path, what, "Name the prefixes themselves")


def items(resources: Iterable[PolicyResource], given: Given | None = None) -> list[Item]:
    """The resources that a cloud holds; components and providers are left out."""
    return [
        Item(
            r.resource_type,
            r.name,
            r.urn,
            _props(r, (given or {}).get(r.urn)),
            r.opts.protect,
            r.provider.name if r.provider else None,
        )
        for r in resources
        if r.resource_type.startswith(("aws:", AZURE, "tls:", "random:", "kubernetes:"))
    ]


def _props(resource: PolicyResource, given: dict[str, Any] | None) -> dict[str, Any]:
    """The resource's properties, less those that the program leaves to the provider and a preview can't know.

    A stack is judged by its outputs, and AWS computes many that nobody set (a security group's ingress, a volume's
    encryption), which says nothing about the program. Without its inputs nothing is left out. A provider that is itself
    not known yet, like that of a cluster that is still to come, is not asked, and then there are no outputs at all.
    """
    props: dict[str, Any] = plain(resource.props) or given or {}
    if given and resource.resource_type.startswith(AZURE):
        props = _with(props, given)
    return {name: value for name, value in props.items() if value is not UNKNOWN or given is None or name in given}


def _with(props: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Azure never shows again what is for writing alone, such as what a machine boots from: the program's stands."""
    return props | {
        name: _with(props[name], value) if isinstance(value, dict) and isinstance(props.get(name), dict) else value
        for name, value in given.items()
        if name not in props or (isinstance(value, dict) and isinstance(props[name], dict))
    }


def plain(value: Any) -> Any:
    """Proxies to dicts and lists, unknown values to UNKNOWN."""
    if isinstance(value, Mapping):
        return {key: _at(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_at(value, index) for index in range(len(value))]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _at(holder: Any, key: Any) -> Any:
    try:
        return plain(holder[key])
    except UnknownValueError:
        return UNKNOWN


def unknown_in(value: Any) -> bool:
    if isinstance(value, dict):
        return any(unknown_in(item) for item in value.values())
    if isinstance(value, list):
        return any(unknown_in(item) for item in value)
    return value is UNKNOWN


def of_types(found: Iterable[Item], types: Iterable[str]) -> Iterator[Item]:
    wanted = set(types)
    return (item for item in found if item.type in wanted)


def tag(item: Item, name: str) -> Any:
    """A tag's value: None where there is none, UNKNOWN where that can't be told. Scaling groups list theirs."""
    tags = item.props.get("tags") or {}
    if isinstance(tags, list):
        if unknown_in([entry if entry is UNKNOWN else entry.get("key") for entry in tags]):
            return UNKNOWN
        tags = {entry.get("key"): entry.get("value") for entry in tags}
    return UNKNOWN if tags is UNKNOWN else tags.get(name)


def values(value: Any, path: str) -> Iterator[Any]:
    """What stands at a dotted path, of every entry of lists on the way: None where only its end is missing."""
    if isinstance(value, list):
        for entry in value:
            yield from values(entry, path)
    elif value is UNKNOWN or not path:
        yield value
    elif isinstance(value, dict):
        head, _, rest = path.partition(".")
        if value.get(head) is not None or not rest:
            yield from values(value.get(head), rest)
