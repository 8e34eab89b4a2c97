"""Answers the API server on this machine whose a token is: TokenReview (authentication.k8s.io/v1) on the loopback.

Knows only tokens that prove which instance made them (join_token, join_document). Whoever shows a bad one learns
nothing but that it is; why stands in this unit's log.
"""

import hashlib
import http.client
import http.server
import json
import ssl
import threading
import time
from datetime import UTC, datetime
from typing import Any

import join_document
import join_table
import join_token
from attest_aws import BODY
from join_token import BadToken, IdentityRequest, Machine
from machine import say, settings

from kube_http import Kube

ADDRESS, PORT, API_PORT = "127.0.0.1", 6445, 6443
AUTHORITY, CERTIFICATE = "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/joining"
API = "authentication.k8s.io/v1"
UNAVAILABLE, CALL_SECONDS = 503, 20.0
MOST_BYTES, MOST_ANSWER = 64 << 10, 64 << 10
# Azure's documents are checked by processes of openssl's, so many at a time.
CHECKS_AT_ONCE = 8
# Questions to STS at a time. From another continent an answer takes half a second: so many are more than 100 a second.
AT_ONCE, WAIT_SECONDS, STS_SECONDS, IDLE_SECONDS = 64, 10.0, 5.0, 90.0
GOOD_SECONDS, BAD_SECONDS, MAX_CACHED = 60.0, 10.0, 4096


class Unavailable(Exception):
    """Nobody knows yet: the API server asks again, and keeps no such answer."""


def ask_sts(asked: IdentityRequest, trust: ssl.SSLContext) -> bytes:
    """Sends the request as it was signed and follows nothing. Raises BadToken, Unavailable."""
    line = http.client.HTTPSConnection(asked.host, timeout=STS_SECONDS, context=trust)
    try:
        line.putrequest("POST", "/", skip_host=True, skip_accept_encoding=True)
        for name, value in asked.headers.items():
            line.putheader(name, value)
        line.putheader("content-length", str(len(BODY)))
        line.endheaders(BODY.encode())
        answer = line.getresponse()
        data = answer.read(MOST_ANSWER)
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{asked.host} does not answer: {error}") from None
    finally:
        line.close()
    if answer.status >= 500 or answer.status == 429:
        raise Unavailable(f"{asked.host} answers {answer.status}")
    if answer.status != 200:
        raise BadToken(f"STS answers {answer.status}: {data[:300].decode(errors='replace')!a}")
    return data


class Reviewer:
    def __init__(self, told: Any) -> None:
        self.cluster, self.account = str(told["cluster"]), str(told["account"])
        # Of nobody, until the pools are known.
        self.roles: dict[str, str] = {}
        self.regions: frozenset[str] = frozenset()
        self.in_azure, self.subscription = dict[str, str](), ""
        # Once: to read all authorities of the world takes 40 ms of a processor.
        self.trust = ssl.create_default_context()
        self.in_flight, self.checks = threading.BoundedSemaphore(AT_ONCE), threading.BoundedSemaphore(CHECKS_AT_ONCE)
        self.lock = threading.Lock()
        self.cached: dict[bytes, tuple[float, dict[str, Any] | None]] = {}

    def learn(self, table: Any) -> bool:
        """Takes the table of pools; False: there may be another one later."""
        self.roles, self.regions = table["roles"], frozenset(table["regions"])
        azure = table.get("azure") or {}
        pools = table["pools"].items()
        self.in_azure = {name: one["place"] for name, one in pools if one.get("cloud") == "azure"}
        self.subscription = str(azure.get("subscription", ""))
        say(f"knows the machines of {', '.join(sorted({*self.roles.values(), *self.in_azure})) or 'no pool'}")
        return False

    def review(self, token: str) -> dict[str, Any] | None:
        """The user, or None for a token that is not ours or worth nothing. Raises Unavailable."""
        if not join_token.is_ours(token) and not join_document.is_ours(token):
            return None
        key, now = hashlib.sha256(token.encode(errors="replace")).digest(), time.monotonic()
        with self.lock:
            if (found := self.cached.get(key)) and found[0] > now:
                return found[1]
        try:
            machine, ends = self._of_azure(token) if join_document.is_ours(token) else self._of_aws(token)
            user = join_token.user(machine)
            self._keep(key, user, min(GOOD_SECONDS, (ends - datetime.now(UTC)).total_seconds()))
        except BadToken as error:
            say(f"refused a token: {error}")
            self._keep(key, None, BAD_SECONDS)
            return None
        say(f"{user['username']} has proved who it is")
        return user

    def _of_aws(self, token: str) -> tuple[Machine, datetime]:
        """Whose it is, and when it ends. Raises BadToken, Unavailable."""
        asked = join_token.read(token, self.cluster, self.regions, datetime.now(UTC))
        return join_token.who(self._answer(asked), self.account, self.roles), asked.ends

    def _of_azure(self, token: str) -> tuple[Machine, datetime]:
        """The same; Azure need not be asked."""
        told = join_document.read(token, self.in_azure)
        if not self.checks.acquire(timeout=WAIT_SECONDS):
            raise Unavailable(f"{CHECKS_AT_ONCE} documents are being checked")
        try:
            content = join_document.verified(told)
        finally:
            self.checks.release()
        now = datetime.now(UTC)
        return join_document.who(content, told, self.cluster, self.subscription, now), join_document.ends(now)

    def _answer(self, asked: IdentityRequest) -> bytes:
        if not self.in_flight.acquire(timeout=WAIT_SECONDS):
            raise Unavailable(f"{AT_ONCE} questions to STS wait for their answers")
        try:
            return ask_sts(asked, self.trust)
        finally:
            self.in_flight.release()

    def _keep(self, key: bytes, user: dict[str, Any] | None, seconds: float) -> None:
        now = time.monotonic()
        with self.lock:
            if len(self.cached) >= MAX_CACHED:
                self.cached = {name: one for name, one in self.cached.items() if one[0] > now}
            while len(self.cached) >= MAX_CACHED:
                self.cached.pop(next(iter(self.cached)))
            self.cached[key] = (now + seconds, user)

    def answer(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """HTTP's status and the TokenReview with its status."""
        try:
            asked = json.loads(body)
            token = asked["spec"]["token"]
            if asked["apiVersion"] != API or asked["kind"] != "TokenReview" or not isinstance(token, str):
                return 400, {}
        except (KeyError, RecursionError, TypeError, ValueError):
            return 400, {}
        try:
            user = self.review(token)
        except Unavailable as error:
            say(f"cannot tell whose a token is: {error}")
            return UNAVAILABLE, {}
        status = {"authenticated": True, "user": user} if user else {"authenticated": False}
        return 200, {"apiVersion": API, "kind": "TokenReview", "status": status}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    wbufsize = -1
    reviewer: Reviewer

    def do_POST(self) -> None:
        status, told = 500, dict[str, Any]()
        try:
            length = int(self.headers.get("content-length", ""))
            if not 0 <= length <= MOST_BYTES:
                raise ValueError
            status, told = self.reviewer.answer(self.rfile.read(length))
        except ValueError:
            status, self.close_connection = 400, True
        except OSError:
            self.close_connection = True
            return
        except Exception as error:
            say(f"ERROR: a token was not judged: {type(error).__name__}: {error}")
        data = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == UNAVAILABLE:
            # Only then the API server asks again by itself (client-go, rest/with_retry.go).
            self.send_header("retry-after", "1")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: object) -> None:
        """A line that broke: whoever asked asks again."""


def main() -> None:
    pair = f"{CERTIFICATE}.crt", f"{CERTIFICATE}.key"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(*pair)
    reviewer = Reviewer(settings("joining"))
    kube = Kube(f"https://{ADDRESS}:{API_PORT}", AUTHORITY, pair=pair, seconds=CALL_SECONDS)
    threading.Thread(target=join_table.follow, args=(kube, reviewer.learn), daemon=True).start()
    server = Server((ADDRESS, PORT), type("Bound", (Handler,), {"reviewer": reviewer}))
    # The handshake belongs to the call's own thread.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


if __name__ == "__main__":
    main()
