"""AWS's names for machines: HTTPS on the instance metadata's address, for the services and regions that there are.

A machine's calls are told from those of the local cloud's own programs: only a role's credentials count here, and our
own API is not to be had.
"""

import logging
import socket
import ssl
from typing import Any

from .authority import Authority
from .names import service_of

ADDRESS, PORT = "169.254.169.254", 443
IP_FREEBIND = 15
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


def serve(inner: Any, authority: Authority) -> Any:
    """The server; its address need not be there yet. Raises OSError."""
    from werkzeug.serving import make_server

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
    listener.bind((ADDRESS, PORT))
    listener.listen(128)
    server = make_server(ADDRESS, PORT, application(inner), threaded=True, fd=listener.fileno())
    listener.detach()
    # Not werkzeug's own way: the handshake belongs in the call's thread, or one slow client holds up all others.
    server.socket = _context(authority).wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.ssl_context = server.socket.context
    return server


def _context(authority: Authority) -> ssl.SSLContext:
    made: dict[str, ssl.SSLContext] = {}

    def chosen(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        if not name or service_of(name) is None:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        if name not in made:
            # Whole before others see it: calls come at the same time.
            own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            own.load_cert_chain(authority.issue(name))
            made[name] = own
        connection.context = made[name]
        return None

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = chosen
    return context
