"""Asynchronous operations: what ARM began and is not over yet, and what became of it.

A caller gets `Azure-AsyncOperation` (a status document, always 200) and `Location` (202 until it is over, then the
result), as azure-resource-manager-rpc's "Asynchronous operations" has them. With no pace set an operation is over at
the next call of anybody.
"""

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .errors import ArmError, conflict

log = logging.getLogger("local.azure")
# What is over is told of for so long.
KEPT_SECONDS = 3600.0


@dataclass
class Operation:
    """One. `finish` does what is left and gives the result for `Location`, or None; its error is the failure."""

    target: str  # lower-case id of the resource, which takes no other write meanwhile
    finish: Callable[[], Any]
    ready: float
    namespace: str = ""
    subscription: str = ""
    location: str = ""
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    status: str = "InProgress"
    result: Any = None
    error: ArmError | None = None
    writes: bool = False  # begun by PUT or PATCH
    started: str = field(default_factory=lambda: now())
    ended: str | None = None

    def document(self) -> dict[str, Any]:
        """As `Azure-AsyncOperation` leads to it."""
        document: dict[str, Any] = {"id": self.path("operations"), "name": self.id, "status": self.status}
        document["startTime"] = self.started
        if self.ended:
            document["endTime"] = self.ended
        if self.error:
            document["error"] = self.error.as_json()
        if self.status == "Succeeded" and self.result is not None:
            document["properties"] = {"output": self.result}
        return document

    def over(self) -> None:
        """What it would have done is no more: such a function can't be kept."""
        self.ended, self.finish = now(), nothing

    def path(self, kind: str) -> str:
        place = f"/subscriptions/{self.subscription}/providers/{self.namespace}/locations/{self.location or 'global'}"
        return f"{place}/{kind}/{self.id}"


class Operations:
    """All of them. `pace_seconds` is how long each takes; by type (small letters) in `paces`, before that."""

    def __init__(self) -> None:
        self.pace_seconds = 0.0
        self.paces: dict[str, float] = {}
        self._known: dict[str, Operation] = {}

    def begin(self, type_: str, operation: Operation) -> Operation:
        operation.ready = time.time() + self.paces.get(type_.lower(), self.pace_seconds)
        self._known[operation.id] = operation
        return operation

    def find(self, id_: str) -> Operation | None:
        return self._known.get(id_)

    def running(self) -> list[Operation]:
        return [one for one in self._known.values() if one.status == "InProgress"]

    def settle_due(self) -> None:
        """Ends those whose time has come, oldest first."""
        at = time.time()
        for one in self.running():
            if one.ready <= at:
                self.end(one)
        old = [one.id for one in self._known.values() if one.ended and at - one.ready > KEPT_SECONDS]
        for id_ in old:
            del self._known[id_]

    def finish(self) -> int:
        """Ends all at once, whatever their pace; gives how many."""
        found = self.running()
        for one in found:
            self.end(one)
        return len(found)

    def end(self, operation: Operation) -> None:
        try:
            operation.result = operation.finish()
        except ArmError as error:
            operation.status, operation.error = "Failed", error
        except Exception:
            log.exception("An operation of %s failed", operation.target)
            message = "The local Azure has failed: see its log."
            operation.status, operation.error = "Failed", ArmError(500, "InternalServerError", message)
        else:
            operation.status = "Succeeded"
        operation.over()

    def preempt(self, key: str) -> None:
        """Ends writes of the resource that are not over, as Compute does when a newer one comes."""
        for one in self.running():
            if one.writes and one.target == key:
                message = "Operation execution has been preempted by a more recent operation."
                one.status, one.error = "Canceled", conflict("OperationPreempted", message)
                one.over()

    def refuse_second(self, key: str) -> None:
        """Raises ArmError while the resource, or what it is a part of, or a part of it, is being written."""
        for one in self.running():
            if f"{one.target}/".startswith(f"{key}/") or f"{key}/".startswith(f"{one.target}/"):
                message = f"Another operation on this or dependent resource is in progress: {one.path('operations')}"
                raise conflict("AnotherOperationInProgress", message)


def nothing() -> None:
    """There is nothing left to do."""


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
