"""Asks this machine's cloud what it announces of the machine, and lays that on its Node, as the node itself.

The cluster's maintenance service makes a plan of it, and says on the Node when the machine is empty: a cloud that waits
for that is told. docs/decisions/0064-maintenance.md says why.
"""

import json
import os
import time
from collections.abc import Sequence
from http.client import HTTPException
from importlib import import_module
from typing import Any, Protocol

from cloud import named
from machine import Refused, say
from own_node import client

from kube_http import MERGE, Answer, Json, Kube

# fleet/maintenance.py has the same: a test compares.
ANNOUNCED, PLANNED = "landbridge.dev/announced", "landbridge.dev/maintenance"
EMPTY = "drained"
# EC2 wants to be asked each five seconds, Azure each second; a spot machine of Azure's has half a minute.
SECONDS = {"aws": 5.0, "azure": 1.0}
NODES = "/api/v1/nodes"
FAILED = (OSError, Refused, HTTPException, ValueError, KeyError, TypeError)


class Source(Protocol):
    """A cloud's module. Both raise one of FAILED."""

    def announced(self) -> list[Json]:
        """Each with `id`, `source`, `why`, `start` and `end`, in ISO 8601."""
        ...

    def ready(self, id_: str) -> None:
        """The machine is empty: the cloud need not wait."""
        ...


class Notices:
    def __init__(self, kube: Kube, node: str, source: Source) -> None:
        self.kube, self.node, self.source = kube, node, source
        # What stands on the Node; None while that is not known.
        self.laid: str | None = None
        self.told: set[str] = set()

    def step(self) -> None:
        """Raises one of FAILED, or Answer."""
        found = self.source.announced()
        text = json.dumps(found, sort_keys=True) if found else ""
        node = self.kube.ask("GET", f"{NODES}/{self.node}") if found or self.laid is None else {}
        if self.laid is None:
            self.laid = _annotation(node, ANNOUNCED)
        if text != self.laid:
            body = {"metadata": {"annotations": {ANNOUNCED: text or None}}}
            self.kube.ask("PATCH", f"{NODES}/{self.node}", body, MERGE)
            self.laid = text
            say(f"announced: {text or 'nothing any more'}")
        ids = {str(one["id"]) for one in found}
        self.told &= ids
        for id_ in sorted(ids & empty(node) - self.told):
            self.source.ready(id_)
            self.told.add(id_)
            say(f"the machine is empty: {id_} need not wait")


def empty(node: Json) -> set[str]:
    """Ids of what is announced whose plan has emptied the machine."""
    plans: Sequence[Any] = json.loads(_annotation(node, PLANNED) or "[]")
    return {str(one.get("event")) for one in plans if one.get("phase") == EMPTY}


def _annotation(node: Json, name: str) -> str:
    found = ((node.get("metadata") or {}).get("annotations") or {}).get(name)
    return str(found or "")


def main() -> None:
    cloud, told = named(), ""
    notices = Notices(client(), os.environ["NODE_NAME"], import_module(f"notices_{cloud}"))
    while True:
        why = ""
        try:
            notices.step()
        except (*FAILED, Answer) as error:
            why = f"{type(error).__name__}: {error}"
        if why and why != told:
            say(f"what is announced is not known: {why}")
        told = why
        time.sleep(SECONDS[cloud])


if __name__ == "__main__":
    main()
