"""The machines service's side of the local AWS: what there is, and what has come of it."""

import http.client
import json
import time
from typing import Any

SECONDS = 30.0
OK = 200


class AwsError(Exception):
    """The local AWS does not answer, or not as expected."""


class AwsGoneError(AwsError):
    """The local AWS does not answer at all."""


class Aws:
    """The local AWS's own API at `url`."""

    def __init__(self, url: str) -> None:
        self.place = url.removeprefix("http://")

    def await_up(self, seconds: float) -> None:
        """Returns when it answers; the machines service keeps its machines from now on. Raises AwsError."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.tell("keep", None)
            except AwsError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def world(self) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("world", None)
        return found

    def await_change(self, seen: int, seconds: float) -> int:
        return int(self._ask("changes", [seen, seconds], SECONDS + seconds))

    def credentials(self, instance: str) -> dict[str, str]:
        """A role's, for an instance. Raises AwsError with instance metadata's code when it has none."""
        found: dict[str, str] = self._ask("credentials", instance)
        return found

    def tell(self, name: str, body: Any) -> None:
        self._ask(name, body, empty=True)

    def _ask(self, name: str, body: Any, seconds: float = SECONDS, *, empty: bool = False) -> Any:
        data = json.dumps(body) if body is not None or empty else None
        connection = http.client.HTTPConnection(self.place, timeout=seconds)
        try:
            connection.request("POST" if data else "GET", f"/landbridge-api/{name}", data)
            answer = connection.getresponse()
            told = json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise AwsGoneError(f"{name}: {error}") from None
        finally:
            connection.close()
        if answer.status != OK:
            raise AwsError(str(told))
        return told
