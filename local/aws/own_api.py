"""What the local AWS answers beside AWS's own calls, below /landbridge-api/.

For tests: inventory, faults, quotas, offerings (of machine types), tunnels, files, clock, and events that EC2 announces
(withdraw takes one back).

For the machines service: changes (waits for one), world, credentials, ended, ill, detached, command, ends (of
tunnels) and health. For who copies what is kept: flush, pause and resume (local.worlds.control).
"""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.worlds import control, wsgi
from local.worlds.world import StoredWorld

from . import clock, commands, faults, machine_reports, state
from .access.signature import RAW_BODY
from .credentials import credentials
from .extensions import announced, efs_metrics, limits, machines, offerings, outages, vpn
from .front import MARK
from .inventory import inventory
from .world import world

PREFIX = "/landbridge-api/"
# Beside the calls: it waits, and changes nothing.
WAITS = ("POST", "changes")
log = logging.getLogger("local.aws")
# Method and name → what answers, with the request's body. ValueError, TypeError and KeyError are the caller's mistakes.
ANSWERS: dict[tuple[str, str], Callable[[bytes], Any]] = {
    ("GET", "inventory"): lambda _: inventory(),
    ("GET", "faults"): lambda _: faults.listing(),
    ("POST", "faults"): faults.put,
    ("DELETE", "faults"): lambda _: faults.put(b"[]"),
    ("GET", "quotas"): lambda _: limits.listing(),
    ("POST", "quotas"): limits.put,
    ("GET", "offerings"): lambda _: offerings.listing(),
    ("POST", "offerings"): offerings.put,
    ("GET", "clock"): lambda _: clock.now(),
    ("POST", "clock"): clock.advance,
    ("POST", "events"): announced.put,
    ("POST", "withdraw"): announced.withdraw,
    ("POST", "tunnels"): lambda body: vpn.ask(json.loads(body)),
    ("POST", "files"): lambda body: efs_metrics.put(json.loads(body)),
    ("POST", "keep"): lambda _: machine_reports.keep(),
    ("POST", "changes"): lambda body: machine_reports.await_change(*json.loads(body)),
    ("GET", "world"): lambda _: world(),
    ("POST", "credentials"): lambda body: credentials(json.loads(body)),
    ("POST", "ended"): lambda body: machines.ended(json.loads(body)),
    ("POST", "ill"): lambda body: machines.ill(*json.loads(body)),
    ("POST", "detached"): lambda body: machines.detached(json.loads(body)),
    ("POST", "command"): lambda body: commands.record(json.loads(body)),
    ("POST", "ends"): lambda body: vpn.tell(json.loads(body)),
    ("POST", "health"): lambda body: machine_reports.health.update(json.loads(body)),
}


def stored_in(folder: Path | None, inner: wsgi.Wsgi) -> StoredWorld:
    """What `inner` and our own calls change, in a folder. Calls come one at a time: moto's dictionaries need that."""
    return StoredWorld(state.cloud(answering(inner)), folder)


def application(world: StoredWorld) -> wsgi.Wsgi:
    """What a server serves: every call is kept before its answer."""

    def serve(environ: Any, start_response: Any) -> Any:
        body = wsgi.read(environ)
        # An upload is no form, though urllib calls it one: moto would believe that, and keep 0 bytes.
        if environ["REQUEST_METHOD"] == "PUT" and "form" in environ.get("CONTENT_TYPE", ""):
            environ["CONTENT_TYPE"] = "application/octet-stream"
        name, ours = environ.get("PATH_INFO", "").removeprefix(PREFIX), _ours(environ)
        if ours and (environ["REQUEST_METHOD"], name) in control.CALLS:
            return _say(start_response, *control.answer(world, name, body))
        if ours and (environ["REQUEST_METHOD"], name) == WAITS:
            return _say(start_response, *_answer(*WAITS, body))
        answer = world.execute(wsgi.call(environ, body))
        if not ours:
            outages.lose(environ["werkzeug.socket"])
        return wsgi.say(start_response, answer)

    return serve


def answering(inner: wsgi.Wsgi) -> wsgi.Wsgi:
    """A WSGI application that answers our own paths and hands on all others."""

    def serve(environ: Any, start_response: Any) -> Any:
        if not _ours(environ):
            if "HTTP_X_AMZ_SECURITY_TOKEN" in environ:
                environ[RAW_BODY] = environ["wsgi.input"].getvalue()
            return inner(environ, start_response)
        name = environ["PATH_INFO"].removeprefix(PREFIX)
        return _say(start_response, *_answer(environ["REQUEST_METHOD"], name, environ["wsgi.input"].read()))

    return serve


def _ours(environ: Any) -> bool:
    return str(environ.get("PATH_INFO", "")).startswith(PREFIX) and MARK not in environ


def _say(start_response: Any, status: str, answer: Any) -> list[bytes]:
    body = json.dumps(answer, indent=2, sort_keys=True).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def _answer(method: str, name: str, body: bytes) -> tuple[str, Any]:
    answer = ANSWERS.get((method, name))
    if answer is None:
        return "404 Not Found", f"the local cloud has no {method} {PREFIX}{name}"
    try:
        return "200 OK", answer(body)
    except (KeyError, TypeError, ValueError) as error:
        return "400 Bad Request", f"{name}: {error}"
    except Exception as error:
        log.exception("%s failed", name)
        return "500 Internal Server Error", f"{name}: {type(error).__name__}: {error}"
