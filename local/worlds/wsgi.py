"""Requests that can be written down and made again, and their answers whole."""

import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .world import Answer

# Of a request's environment: what says what is asked, and by whom (a list: headers as they came). All else is the
# server's.
PLAIN = (str, bool, list)
Wsgi = Callable[[Any, Any], Iterable[bytes]]


class Call(NamedTuple):
    """A request as WSGI has it."""

    environ: dict[str, Any]
    body: bytes

    @property
    def words(self) -> str:
        """Without what may be a secret."""
        environ = self.environ
        action = environ.get("HTTP_X_AMZ_TARGET", "")
        if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
            action = next((part for part in self.body[:2000].decode("latin-1").split("&") if part[:7] == "Action="), "")
        return f"{environ['REQUEST_METHOD']} {environ.get('PATH_INFO', '')} {action}".strip()


def read(environ: Any) -> bytes:
    """A request to its end, so that no slow caller holds up others."""
    length = environ.get("CONTENT_LENGTH")
    chunked = str(environ.get("HTTP_TRANSFER_ENCODING", "")).lower() == "chunked"
    body: bytes = environ["wsgi.input"].read(*([int(length)] if length else [] if chunked else [0]))
    return body


def call(environ: dict[str, Any], body: bytes) -> Call:
    return Call({name: value for name, value in environ.items() if type(value) in PLAIN}, body)


def answer(application: Wsgi, request: Call) -> Answer:
    started: list[Any] = []
    environ = {
        **request.environ,
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.version": (1, 0),
    }
    parts = application(environ, lambda status, headers, _=None: started.append((status, headers)))
    try:
        body = b"".join(parts)
    finally:
        close = getattr(parts, "close", None)
        if close:
            close()
    status, headers = started[-1]
    return Answer(status, headers, body)


def say(start_response: Any, answer: Answer) -> list[bytes]:
    start_response(answer.status, answer.headers)
    return [answer.body]
