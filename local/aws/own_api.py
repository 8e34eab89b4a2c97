"""What the local AWS answers beside AWS's own calls: /landbridge-api/inventory, …/faults, …/quotas and …/clock."""

import json
from collections.abc import Callable
from typing import Any

from . import clock, faults
from .extensions import limits
from .inventory import inventory

PREFIX = "/landbridge-api/"
# Method and name → what answers, with the request's body. ValueError, TypeError and KeyError are the caller's mistakes.
ANSWERS: dict[tuple[str, str], Callable[[bytes], Any]] = {
    ("GET", "inventory"): lambda _: inventory(),
    ("GET", "faults"): lambda _: faults.listing(),
    ("POST", "faults"): faults.put,
    ("DELETE", "faults"): lambda _: faults.put(b"[]"),
    ("GET", "quotas"): lambda _: limits.listing(),
    ("POST", "quotas"): limits.put,
    ("GET", "clock"): lambda _: clock.now(),
    ("POST", "clock"): clock.advance,
}


def application(inner: Any) -> Any:
    """A WSGI application that answers our own paths and hands on all others."""

    def serve(environ: Any, start_response: Any) -> Any:
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PREFIX):
            return inner(environ, start_response)
        status, answer = _answer(environ["REQUEST_METHOD"], path.removeprefix(PREFIX), environ)
        body = json.dumps(answer, indent=2, sort_keys=True).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return serve


def _answer(method: str, name: str, environ: Any) -> tuple[str, Any]:
    answer = ANSWERS.get((method, name))
    if answer is None:
        return "404 Not Found", f"the local cloud has no {method} {PREFIX}{name}"
    try:
        return "200 OK", answer(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
    except (KeyError, TypeError, ValueError) as error:
        return "400 Bad Request", f"{name}: {error}"
