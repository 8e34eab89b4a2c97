"""What stands against an update, or will be in its way: looked at before anything is changed. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet import sight
from fleet.kubernetes_versions import minor
from landbridge.pool.listing import ailing, failed
from landbridge.site import nodes

Node = Mapping[str, Any]
# Kubernetes' own "Version Skew Policy": kubelets may be so many minors behind the API.
SKEW = 3


class Check(NamedTuple):
    """`found` is what is wrong, in words; nothing where all is well. `stops`: the update does not begin with it."""

    what: str
    found: tuple[str, ...]
    stops: bool
    remedy: str

    @property
    def well(self) -> bool:
        return not self.found

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "found": list(self.found), "well": self.well}


class Deprecated(NamedTuple):
    """A kind of the API that somebody has asked for since a server began, and the minor version without it."""

    group: str
    version: str
    resource: str
    gone_in: str

    def __str__(self) -> str:
        group = f"{self.group}/{self.version}" if self.group else self.version
        return f"{self.resource} of {group}, which {self.gone_in} has no more"


class Seen(NamedTuple):
    """`machines` has what ails each, `lacking` the channels without an image of the target."""

    target: str
    machines: Mapping[str, Sequence[str]]
    nodes: Sequence[Node]
    budgets: Sequence[Mapping[str, Any]]
    deprecated: Sequence[Deprecated]
    lacking: Sequence[str]
    frozen: str
    planned: Sequence[str]


class Rule(NamedTuple):
    look: Callable[[Seen], Iterable[str]]
    stops: Callable[[Seen], bool]
    remedy: str


def checks(seen: Seen) -> list[Check]:
    return [Check(what, tuple(one.look(seen)), one.stops(seen), one.remedy) for what, one in RULES.items()]


def _always(_: Seen) -> bool:
    return True


def _never(_: Seen) -> bool:
    return False


def _frozen(seen: Seen) -> Iterator[str]:
    if seen.frozen:
        yield seen.frozen


def _ailing(seen: Seen) -> Iterator[str]:
    for machine, ails in seen.machines.items():
        if ails:
            yield f"{machine}: {'; '.join(ails)}"


def _lacking(seen: Seen) -> Sequence[str]:
    return seen.lacking


def _removed(seen: Seen) -> Iterator[str]:
    for one in seen.deprecated:
        if _number(one.gone_in) <= _number(minor(seen.target)):
            yield str(one)


def _silent(seen: Seen) -> list[str]:
    return [name(node) for node in seen.nodes if not nodes.ready(node)]


def _many_silent(seen: Seen) -> bool:
    return sight.out_of_sight(len(_silent(seen)), len(seen.nodes))


def _unwell(seen: Seen) -> Iterator[str]:
    for node in seen.nodes:
        if what := [*ailing(node), *(["gpu-failed"] if failed(node) else [])]:
            yield f"{name(node)}: {', '.join(what)}"


def _planned(seen: Seen) -> Sequence[str]:
    return seen.planned


def _number(minor_version: str) -> int:
    return int(minor_version.split(".")[1])


def _skewed(seen: Seen) -> Iterator[str]:
    target = _number(minor(seen.target))
    for node in seen.nodes:
        has = kubelet(node)
        number = _number(minor(has)) if has else target
        if number > target:
            yield f"{name(node)} has kubelet {has}, newer than {seen.target}"
        elif target - number > SKEW:
            yield f"{name(node)} has kubelet {has}, more than {SKEW} minors before {seen.target}"


def _blocking(seen: Seen) -> Iterator[str]:
    for one in seen.budgets:
        status, meta = one.get("status") or {}, one["metadata"]
        if status.get("expectedPods") and not status.get("disruptionsAllowed"):
            yield (
                f"{meta['namespace']}/{meta['name']} lets none of its {status['expectedPods']} pods go "
                f"({status.get('currentHealthy', 0)} healthy, {status.get('desiredHealthy', 0)} wanted)"
            )


def kubelet(node: Node) -> str:
    """Empty where the node has not said it."""
    return str(node.get("status", {}).get("nodeInfo", {}).get("kubeletVersion", "")).removeprefix("v")


def name(node: Node) -> str:
    return str(node["metadata"]["name"])


RULES = {
    "frozen": Rule(_frozen, _always, "`landbridge unfreeze` releases it"),
    "control plane": Rule(
        _ailing, _always, "One machine may be away at a time: make them healthy (`landbridge cluster status`)"
    ),
    "images": Rule(_lacking, _always, "Promote an image of that version (`landbridge image promote`)"),
    "removed APIs": Rule(
        _removed,
        _always,
        "Whoever asks for them fails afterwards: have them ask for the newer version. An API server forgets who asked "
        "when it is replaced (`landbridge cluster roll --force`)",
    ),
    "version skew": Rule(_skewed, _always, "Roll their pools first; a host's kubelet is of its image"),
    "silent nodes": Rule(_silent, _many_silent, "Nobody knows what runs there: `landbridge doctor`"),
    "unwell nodes": Rule(_unwell, _never, "They are replaced with the rest"),
    "disruption budgets": Rule(
        _blocking, _never, "Their pods stay, and hold up their machine's replacement, until the budget lets one go"
    ),
    "planned maintenance": Rule(_planned, _never, "What is away for that counts in a pool's share"),
}
