"""Hosts of sites in the local cloud: having one stand up, and taking it down; and guests. From inside of it."""

import http.client
import json
from typing import Any

from .client import LocalCloudError

PORT = 5002  # the machines service: local.daemon.CHILDREN
SECONDS = 120.0


def stand_up(spec: dict[str, Any]) -> dict[str, Any]:
    """Returns when it runs; nothing new if it does already. See local.supervisor.hosts for what it is told by."""
    found: dict[str, Any] = _ask("POST", "/hosts", spec)
    return found


def guests(stack: str, disk: str | None) -> None:
    """A stack's next machines are guests that start from a disk, a qcow2; None: they are none. `stack` is fleet/stack.

    Raises LocalCloudError where this computer can run none.
    """
    _ask("POST", "/guests", {"stack": stack, "disk": disk})


def take_down(name: str) -> None:
    """Stops it and drops its disk. Raises LocalCloudError."""
    _ask("DELETE", f"/hosts/{name}")


def _ask(method: str, path: str, body: Any = None) -> Any:
    line = http.client.HTTPConnection("127.0.0.1", PORT, timeout=SECONDS)
    try:
        line.request(method, path, json.dumps(body))
        answer = line.getresponse()
        result = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise LocalCloudError(f"The local cloud's machines service does not answer: {error}.") from None
    finally:
        line.close()
    if answer.status != 200:
        raise LocalCloudError(f"The local cloud has not done it: {result}.")
    return result
