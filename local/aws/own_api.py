"""What the local AWS answers beside AWS's own calls, below /landbridge-api/.

For tests: inventory, faults, quotas, tunnels and clock.

For the machines service: changes (waits for one), world, credentials, ended, ill, detached, command, ends (of
tunnels) and health.
"""

import io
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from . import clock, commands, faults, keeping
from .access.signature import RAW_BODY
from .credentials import credentials
from .extensions import limits, machines, outages, vpn
from .front import MARK
from .inventory import inventory
from .world import world

PREFIX = "/landbridge-api/"
WAITS = ("POST", "changes")
# moto iterates over dictionaries that other threads' calls add to: RuntimeError, once in some ten thousand calls.
_one_at_a_time = threading.RLock()
log = logging.getLogger("local.aws")
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
    ("POST", "tunnels"): lambda body: vpn.ask(json.loads(body)),
    ("POST", "keep"): lambda _: keeping.keep(),
    ("POST", "changes"): lambda body: keeping.await_change(*json.loads(body)),
    ("GET", "world"): lambda _: world(),
    ("POST", "credentials"): lambda body: credentials(json.loads(body)),
    ("POST", "ended"): lambda body: machines.ended(json.loads(body)),
    ("POST", "ill"): lambda body: machines.ill(*json.loads(body)),
    ("POST", "detached"): lambda body: machines.detached(json.loads(body)),
    ("POST", "command"): lambda body: commands.told(json.loads(body)),
    ("POST", "ends"): lambda body: vpn.tell(json.loads(body)),
    ("POST", "health"): lambda body: keeping.health.update(json.loads(body)),
}


def application(inner: Any) -> Any:
    """A WSGI application that answers our own paths and hands on all others."""

    def serve(environ: Any, start_response: Any) -> Any:
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PREFIX) or MARK in environ:
            whole = _whole_body(environ)
            with _one_at_a_time:
                answer = inner(whole, start_response)
            outages.lose(environ["werkzeug.socket"])
            return answer
        status, answer = _answer(environ["REQUEST_METHOD"], path.removeprefix(PREFIX), environ)
        body = json.dumps(answer, indent=2, sort_keys=True).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return serve


def _whole_body(environ: Any) -> Any:
    """Reads a request to its end, so that no slow caller holds up others; keeps what a role's call was signed over."""
    length = environ.get("CONTENT_LENGTH")
    body = environ["wsgi.input"].read(*([int(length)] if length else [] if _chunked(environ) else [0]))
    environ["wsgi.input"] = io.BytesIO(body)
    if "HTTP_X_AMZ_SECURITY_TOKEN" in environ:
        environ[RAW_BODY] = body
    # An upload is no form, though urllib calls it one: moto would believe that, and keep 0 bytes.
    if environ["REQUEST_METHOD"] == "PUT" and "form" in environ.get("CONTENT_TYPE", ""):
        environ["CONTENT_TYPE"] = "application/octet-stream"
    return environ


def _chunked(environ: Any) -> bool:
    return str(environ.get("HTTP_TRANSFER_ENCODING", "")).lower() == "chunked"


def _answer(method: str, name: str, environ: Any) -> tuple[str, Any]:
    answer = ANSWERS.get((method, name))
    if answer is None:
        return "404 Not Found", f"the local cloud has no {method} {PREFIX}{name}"
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        if (method, name) == WAITS:
            return "200 OK", answer(body)
        with _one_at_a_time:
            return "200 OK", answer(body)
    except (KeyError, TypeError, ValueError) as error:
        return "400 Bad Request", f"{name}: {error}"
    except Exception as error:
        log.exception("%s failed", name)
        return "500 Internal Server Error", f"{name}: {type(error).__name__}: {error}"
