"""What a drill is about to break, told where it outlives both the drill and the cluster: an object in the fleet bucket.

It is also what keeps two drills off one cluster.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError


class Mark:
    """`files` (by machine and path) and `objects` (by key) are texts to put back, `restore` what to go back to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.key = f"drills/{session.info.name}.json"
        self.content: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        """Empty when no drill is under way, nor was one killed."""
        self.content = dict(json.loads(self.session.bucket.read(self.key) or b"{}"))
        return self.content

    def free(self) -> None:
        """Raises LandbridgeError when another drill works on the cluster, or left it broken."""
        if running := self.read():
            raise LandbridgeError(
                f"Nothing was broken: the drill {running['drill']} began on {self.session.info.name} at "
                f"{running['since']} and has not ended. Wait for it; if it was killed, "
                "`landbridge drill --clear` puts right what it left."
            )

    def begin(self, drill: str, namespace: str) -> None:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        self.content = {"drill": drill, "since": since, "namespace": namespace}
        self.write()

    def add(self, **content: Mapping[str, Any] | None) -> None:
        """To be called before what it tells of is touched. Raises LandbridgeError outside a drill."""
        self.content |= content
        self.write()

    def write(self) -> None:
        self.session.bucket.put(self.key, json.dumps(self.content).encode())

    def end(self) -> None:
        self.session.bucket.delete(self.key)
        self.content = {}
