"""What the local AWS answers beside AWS's own calls: /landbridge-api/inventory and /landbridge-api/faults."""

import json
from typing import Any

from . import faults
from .inventory import inventory

PREFIX = "/landbridge-api/"


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
    match method, name:
        case "GET", "inventory":
            return "200 OK", inventory()
        case "POST", "faults":
            try:
                return "200 OK", faults.put(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
            except (TypeError, ValueError) as error:
                return "400 Bad Request", f"faults: {error}"
    return "404 Not Found", f"the local cloud has no {method} {PREFIX}{name}"
