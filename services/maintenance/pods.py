"""Pods of one node: who works there, and who only fills it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from fleet.work import works
from kube_http import Json, Kube

PATH = "/api/v1/pods"
TEAM_SPACE = "team-"


class Pods(NamedTuple):
    """`all` are those that a drain asks to leave, `work` those of them for whom it waits when it may begin early."""

    all: tuple[Json, ...]
    work: tuple[Json, ...]

    @property
    def names(self) -> list[str]:
        return sorted(name(one) for one in self.work)

    @property
    def teams(self) -> list[str]:
        spaces = {str(one["metadata"]["namespace"]) for one in self.work}
        return sorted(one.removeprefix(TEAM_SPACE) for one in spaces if one.startswith(TEAM_SPACE))


def of_node(kube: Kube, node: str, fills: int) -> Pods:
    """`fills` is the highest priority of pods that only hold a place. Raises Answer, OSError."""
    found = kube.ask("GET", f"{PATH}?fieldSelector={quote(f'spec.nodeName={node}')}&resourceVersion=0")
    return sorted_out(found["items"], fills)


def sorted_out(found: Iterable[Json], fills: int) -> Pods:
    there = tuple(one for one in found if works(one))
    return Pods(there, tuple(one for one in there if int(one["spec"].get("priority") or 0) > fills))


def name(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
