"""POST /STORE/query with a query in LogsQL: its answer by one VictoriaLogs, of the caller's namespace and no other.

VictoriaLogs puts the namespace's filter before the query and before each query inside of it (Query.AddExtraFilters).
Nothing else of a request goes on to it.
"""

import functools
import http.client
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from typing import Any

import prometheus_client

from fleet.kept_logs import of_namespace
from kube_http import Answer
from services.pages import Watched

from .callers import Callers

MOST_BYTES, CHUNK, SECONDS = 64 << 10, 1 << 16, 120.0
BEARER = "Bearer "
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """`status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Reader(Watched):
    protocol_version = "HTTP/1.1"

    def __init__(self, stores: Mapping[str, str], callers: Callers, *args: Any) -> None:
        self.stores, self.callers = stores, callers
        super().__init__({"/healthz": lambda: b"ok\n", "/metrics": prometheus_client.generate_latest}, *args)

    def do_POST(self) -> None:  # noqa: N802  (as http.server calls it)
        try:
            query, store = self._query(), self._store()
            namespace = self._caller()
            answer = asked(store, query, namespace)
        except Refused as refused:
            return self._say(refused.status, str(refused))
        with answer:
            self.send_response(200)
            self.send_header("Content-Type", "application/stream+json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while chunk := answer.read1(CHUNK):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.write(b"0\r\n\r\n")
            except (OSError, http.client.HTTPException) as error:
                # Without its last chunk it is no whole answer to whoever asked.
                complain(f"an answer broke off: {error}")
                self.close_connection = True

    def _say(self, status: int, text: str) -> None:
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _query(self) -> str:
        size = self.headers.get("Content-Length", "")
        if not size.isdigit() or int(size) > MOST_BYTES:
            self.close_connection = True
            raise Refused(413, f"a query has {MOST_BYTES} bytes at most")
        form = urllib.parse.parse_qs(self.rfile.read(int(size)).decode(errors="replace"))
        return form.get("query", [""])[-1]

    def _store(self) -> str:
        name = self.path.removeprefix("/").removesuffix("/query")
        if self.path != f"/{name}/query" or name not in self.stores:
            raise Refused(404, f"{self.path}: ask at /STORE/query, of {', '.join(self.stores)}")
        return self.stores[name]

    def _caller(self) -> str:
        given = self.headers.get("Authorization", "")
        try:
            found = self.callers.namespace(given.removeprefix(BEARER)) if given.startswith(BEARER) else None
        except (OSError, Answer) as error:
            raise Refused(503, f"the API does not say whose the token is: {error}") from None
        if found is None:
            raise Refused(401, "the token is of no team of this cluster, or is not for logs")
        return found


def asked(store: str, query: str, namespace: str) -> http.client.HTTPResponse:
    """Raises Refused, with VictoriaLogs' own words where it answers."""
    body = urllib.parse.urlencode({"query": query, "extra_stream_filters": of_namespace(namespace)}).encode()
    try:
        answer: http.client.HTTPResponse = OPENER.open(f"{store}/select/logsql/query", body, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read().decode(errors="replace").strip()) from None
    except (OSError, http.client.HTTPException) as error:
        raise Refused(502, f"VictoriaLogs does not answer: {error}") from None
    return answer


def complain(text: str) -> None:
    sys.stderr.write(f"log reader: {text}\n")
    sys.stderr.flush()


def served(address: str, stores: Mapping[str, str], callers: Callers) -> ThreadingHTTPServer:
    """`stores` are addresses by names. Raises ValueError, OSError."""
    host, _, port = address.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), functools.partial(Reader, stores, callers))
    threading.Thread(target=server.serve_forever, name="reader", daemon=True).start()
    return server
