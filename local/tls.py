"""HTTPS for clouds' names inside the local cloud: one server, a certificate for each name when it is asked for."""

import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

from .authority import Authority

IP_FREEBIND = 15
RAW_HEADERS = "landbridge.headers"


def serve_names(application: Any, authority: Authority, address: str, port: int, known: Callable[[str], bool]) -> Any:
    """The server of a WSGI application; its address need not be there yet. Names that are not known get no handshake.

    Raises OSError.
    """
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Handler(WSGIRequestHandler):
        """WSGI knows neither names with _ nor names' case: headers are in the environment as they came, too."""

        def make_environ(self) -> Any:
            return {**super().make_environ(), RAW_HEADERS: list(self.headers.items())}

    server = make_server(
        address, port, application, threaded=True, request_handler=Handler, fd=_listening(address, port)
    )
    # Not werkzeug's own way: the handshake belongs in the call's thread, or one slow client holds up all others.
    context = _context(authority, known)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.ssl_context = server.socket.context
    return server


def serve_plainly(application: Any, address: str, port: int) -> Any:
    """The same without TLS, for whatever name. Raises OSError."""
    from werkzeug.serving import make_server

    return make_server(address, port, application, threaded=True, fd=_listening(address, port))


def _listening(address: str, port: int) -> int:
    """A listening socket's number; the address need not be there yet. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
    listener.bind((address, port))
    listener.listen(128)
    return listener.detach()


def _context(authority: Authority, known: Callable[[str], bool]) -> ssl.SSLContext:
    made: dict[str, ssl.SSLContext] = {}
    making = threading.Lock()

    def chosen(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        if not name or not known(name):
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        # Calls come at the same time: the file must not be written anew between its certificate and its key.
        with making:
            if name not in made:
                own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                own.load_cert_chain(authority.issue(name))
                made[name] = own
        connection.context = made[name]
        return None

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = chosen
    return context
