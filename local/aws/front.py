"""AWS's names for machines: HTTPS on the instance metadata's address, for the services and regions that there are.

A machine's calls are told from those of the local cloud's own programs: only a role's credentials count here, and our
own API is not to be had.
"""

import logging
from typing import Any

from local.authority import Authority
from local.tls import serve_names

from .names import service_of

ADDRESS, PORT = "169.254.169.254", 443
# moto's own control of itself.
MOTO = "/moto-api"
# Set on every call that came from a machine.
MARK = "landbridge.machine"
log = logging.getLogger("local.aws")


def application(inner: Any) -> Any:
    """A WSGI application that lets through what is meant for an AWS service, marked as a machine's."""

    def serve(environ: Any, start_response: Any) -> Any:
        host = environ.get("HTTP_HOST", "").partition(":")[0]
        if service_of(host) is None or environ.get("PATH_INFO", "").startswith(MOTO):
            body = f"{host} is no name of an AWS service that the local cloud has".encode()
            start_response("421 Misdirected Request", [("Content-Length", str(len(body)))])
            return [body]
        for name in [name for name in environ if name.startswith("HTTP_X_MOTO")]:
            del environ[name]
        environ[MARK] = True
        return inner(environ, start_response)

    return serve


def serve(inner: Any, authority: Authority, place: str | None = None) -> Any:
    """The server, at ADDRESS:PORT or `place`; its address need not be there yet. Raises OSError."""
    address, _, port = (place or f"{ADDRESS}:{PORT}").rpartition(":")
    return serve_names(application(inner), authority, address, int(port), lambda name: service_of(name) is not None)
