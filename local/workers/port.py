"""The kubelet's own port: over HTTPS, what containers have printed, commands in them, their ports, what all of it uses.

It has no other paths.
"""

import http.server
import select
import ssl
import sys
import time
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from kube_http import Answer

from . import callers, container_logs, port_forward, remote_command
from .callers import Callers
from .container_logs import Log, NoLog, Wanted
from .containers import NotRunning
from .line import Line, upgraded
from .node import PORT
from .pod_container import PodContainer
from .unit import say
from .websocket import Refused

# Nobody else asks for the port, but an address may come late.
RETRY_SECONDS = 30.0
# A line that is silent for so long is closed; the API server's own end after 90 s.
HANDSHAKE_SECONDS, IDLE_SECONDS = 10.0, 120.0
LOOK_SECONDS = 0.2
# Of the wait for the next call, in which nothing is done: the server's own half second would cost hundreds of kubelets
# a thousand awakenings a second.
TURN_SECONDS = 3600.0

PATHS = "local machines answer on /containerLogs, /exec, /portForward, /metrics/resource and /healthz only"
BEARER = "Bearer "
# Of paths that are no container's.
NEEDED = {("healthz",): callers.HEALTH, ("metrics", "resource"): callers.METRICS}


class Pods(Protocol):
    """What the port needs of those that really run."""

    def log(self, namespace: str, name: str, container: str, asked: Wanted) -> Log:
        """Raises NoLog."""

    def inside(self, namespace: str, name: str, container: str) -> PodContainer:
        """One that runs. Raises NotRunning."""

    def runs(self, namespace: str, name: str) -> None:
        """Raises NotRunning if the pod does not."""

    def used(self) -> str:
        """By this machine and by what runs on it, in Prometheus' format."""


class Served(NamedTuple):
    """`certificate` has the key, too; by `authority` those of callers are good."""

    address: str
    certificate: Path
    authority: Path
    callers: Callers
    pods: Pods


def run(served: Served) -> None:
    """For ever."""
    reported = ""
    while True:
        try:
            server = KubeletPort(served)
        except OSError as error:
            if str(error) != reported:
                say(f"nobody answers on {served.address}:{PORT}: {error}")
            reported = str(error)
            time.sleep(RETRY_SECONDS)
        else:
            server.serve_forever(TURN_SECONDS)


class KubeletPort(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, served: Served, port: int = PORT) -> None:
        """Raises OSError."""
        self.served = served
        super().__init__((served.address, port), Handler)

    def context(self) -> ssl.SSLContext:
        """The files are read each time: a renewed certificate counts from the next line on. Raises OSError."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.minimum_version = ssl.TLSVersion.TLSv1_2
        made.load_cert_chain(self.served.certificate)
        made.load_verify_locations(self.served.authority)
        # Who has none hears from us that it needs one.
        made.verify_mode = ssl.CERT_OPTIONAL
        # Each line has settings of its own, so none can be taken up again.
        made.options |= ssl.OP_NO_TICKET
        made.num_tickets = 0
        return made

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the line's own thread, so that a slow handshake holds up nobody."""
        request.settimeout(HANDSHAKE_SECONDS)
        with self.context().wrap_socket(request, server_side=True) as line:
            super().finish_request(line, client_address)

    def handle_error(self, *_: Any) -> None:
        """Lines that break are their callers' own affair."""
        if not isinstance(error := sys.exc_info()[1], OSError):
            say(f"port {PORT}: ERROR: {type(error).__name__}: {error}")


class Handler(http.server.BaseHTTPRequestHandler):
    server: KubeletPort
    connection: ssl.SSLSocket
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not a line a call."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        words = [unquote(word) for word in url.path.split("/")[1:]]
        if why := self.refusal(NEEDED.get(tuple(words), callers.OTHER)):
            return self.tell(*why)
        query = parse_qs(url.query, keep_blank_values=True)
        match words:
            case ["healthz"]:
                return self.tell(HTTPStatus.OK, "ok")
            case ["metrics", "resource"]:
                return self.tell(HTTPStatus.OK, self.server.served.pods.used())
            case ["containerLogs", namespace, pod, container]:
                return self.log(namespace, pod, container, query)
            case ["exec", namespace, pod, container]:
                return self.command_in(namespace, pod, container, query)
            case ["portForward", namespace, pod]:
                return self.port_of(namespace, pod)
            case _:
                return self.tell(HTTPStatus.NOT_FOUND, PATHS)

    def log(self, namespace: str, pod: str, container: str, query: dict[str, list[str]]) -> None:
        try:
            asked = container_logs.wanted(query)
            log = self.server.served.pods.log(namespace, pod, container, asked)
        except (ValueError, NoLog) as error:
            # Only of this status the API server passes the text on.
            return self.tell(HTTPStatus.BAD_REQUEST, str(error))
        return self.stream(container_logs.read(log, asked, self.rest))

    def command_in(self, namespace: str, pod: str, container: str, query: dict[str, list[str]]) -> None:
        """The thread starts no other from then on, and the command ends with it."""
        try:
            asked = remote_command.wanted(query)
            inside = self.server.served.pods.inside(namespace, pod, container)
            line = self.upgraded(remote_command.PROTOCOLS)
        except (ValueError, NotRunning, Refused) as error:
            return self.tell(HTTPStatus.BAD_REQUEST, str(error))
        return remote_command.serve(line, inside, asked)

    def port_of(self, namespace: str, pod: str) -> None:
        try:
            self.server.served.pods.runs(namespace, pod)
            line = self.upgraded(port_forward.PROTOCOLS)
        except (NotRunning, Refused) as error:
            return self.tell(HTTPStatus.BAD_REQUEST, str(error))
        return port_forward.serve(line, f"{namespace}/{pod}")

    def upgraded(self, protocols: tuple[str, ...]) -> Line:
        """Raises Refused, OSError."""
        try:
            return upgraded(self, self.connection, protocols)
        except Refused as error:
            raise Refused(f"{error}: API servers ask local machines for one from Kubernetes 1.36 on") from None

    def do_POST(self) -> None:
        self.do_GET()

    def refusal(self, needed: tuple[str, ...]) -> tuple[HTTPStatus, str] | None:
        """In the real kubelet's words."""
        verb = callers.VERBS[self.command]
        try:
            if (who := self.who()) is None:
                return HTTPStatus.UNAUTHORIZED, "Unauthorized"
            if self.server.served.callers.may(who, verb, needed):
                return None
        except (OSError, Answer) as error:
            return HTTPStatus.INTERNAL_SERVER_ERROR, f"Authorization error: {error}"
        what = f"verb={verb}, resource=nodes, subresource(s)=[{' '.join(needed)}]"
        return HTTPStatus.FORBIDDEN, f"Forbidden (user={who.name}, {what})"

    def who(self) -> callers.Caller | None:
        """A certificate comes first. Raises OSError, Answer."""
        if who := callers.of_certificate(self.connection.getpeercert()):
            return who
        told = self.headers.get("Authorization") or ""
        return self.server.served.callers.of_token(told[len(BEARER) :]) if told.startswith(BEARER) else None

    def tell(self, status: HTTPStatus, text: str) -> None:
        # A call's body is never read.
        self.close_connection |= self.command != "GET"
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def stream(self, chunks: Iterable[bytes]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def rest(self) -> bool:
        """A caller that hangs up is heard by its line."""
        readable, _, _ = select.select([self.connection], [], [], LOOK_SECONDS)
        self.close_connection |= bool(readable)
        return not readable
