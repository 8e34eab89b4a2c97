"""The machines service's side of a cloud's API of ours: what there is, and what has come of it."""

import contextlib
import http.client
import json
from typing import Any

from local.waiting import persist

SECONDS = 30.0
OK = 200
BACK_SECONDS = 60.0


class CloudError(Exception):
    """A cloud does not answer, or not as expected."""


class CloudGoneError(CloudError):
    """A cloud does not answer at all."""


class Cloud:
    """A cloud's own API at `url`. `name` is what its machines have in `cloud`."""

    name = ""

    def __init__(self, url: str) -> None:
        self.place = url.removeprefix("http://")

    def await_up(self, seconds: float) -> None:
        """Returns when it answers; the machines service keeps its machines from now on. Raises CloudError."""
        persist(lambda: self.tell("keep", None), seconds, 0.05, CloudError)

    def await_back(self) -> None:
        """The same for one that was there already, however long it takes."""
        while True:
            with contextlib.suppress(CloudError):
                return self.await_up(BACK_SECONDS)

    def world(self) -> dict[str, Any]:
        """What there is; each machine says in `cloud` whose it is."""
        found: dict[str, Any] = self.ask("world", None)
        return {**found, "machines": [{**one, "cloud": self.name} for one in found["machines"]]}

    def await_change(self, version: int, seconds: float) -> int:
        return int(self.ask("changes", [version, seconds], SECONDS + seconds))

    def tell(self, name: str, body: Any, patience_seconds: float = 0.0) -> None:
        """`patience_seconds`: how long one that is away is waited for. Raises CloudError."""
        persist(lambda: self.ask(name, body, empty=True), patience_seconds, 0.2, CloudGoneError)

    def ask(self, name: str, body: Any, seconds: float = SECONDS, *, empty: bool = False) -> Any:
        """Raises CloudError for any answer but a good one."""
        status, result = self.answer(name, body, seconds, empty=empty)
        if status != OK:
            raise CloudError(str(result))
        return result

    def answer(self, name: str, body: Any, seconds: float = SECONDS, *, empty: bool = False) -> tuple[int, Any]:
        """The status and what was said. Raises CloudGoneError."""
        data = json.dumps(body) if body is not None or empty else None
        connection = http.client.HTTPConnection(self.place, timeout=seconds)
        try:
            connection.request("POST" if data else "GET", f"/landbridge-api/{name}", data)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CloudGoneError(f"{name}: {error}") from None
        finally:
            connection.close()
