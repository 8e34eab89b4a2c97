"""Steady reads and writes against a cluster's API, as through its balancer: run in a host's namespace, by Python.

    python -m tests.support.steady FOLDER

FOLDER has `steady.json` (servers, host, rate) and the credential ca.crt, client.crt, client.key, which is read anew
when `changed` is. It goes on until `stop` is there, and leaves `report.json`. Like a balancer, it sends calls to those
servers alone that were ready when last asked. A call that fails is tried again at the next server and counted; one that
fails for good is a failure.
"""

import http.client
import json
import socket
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import Any

TRIES, PATIENCE, TIMEOUT = 8, 20.0, 5.0
WORKERS, OBJECTS = 24, 24
CHECK_SECONDS = 0.5
PORT = 6443


class Steady:
    def __init__(self, folder: Path) -> None:
        told = json.loads((folder / "steady.json").read_text())
        self.folder, self.servers, self.host, self.rate = folder, list(told["servers"]), told["host"], told["rate"]
        self.ready = dict.fromkeys(self.servers, True)
        self.lock = threading.Lock()
        self.number = self.retries = 0
        self.counts = {"reads": 0, "writes": 0}
        self.failures: list[str] = []
        self.reasons: dict[str, int] = {}
        self.slowest = 0.0
        self.written: dict[str, int] = {}
        self.begun = time.monotonic()

    @property
    def stopped(self) -> bool:
        return (self.folder / "stop").exists()

    def context(self) -> tuple[str, ssl.SSLContext]:
        """The credential as it is now, and which one that is."""
        which = (self.folder / "changed").read_text()
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        context.load_cert_chain(self.folder / "client.crt", self.folder / "client.key")
        return which, context

    def watch(self) -> None:
        """The balancer's health check: it trusts whatever certificate there is, as theirs do."""
        anything = ssl._create_unverified_context()
        while not self.stopped:
            for server in self.servers:
                try:
                    asked = http.client.HTTPSConnection(server, PORT, timeout=1, context=anything)
                    asked.request("GET", "/readyz")
                    self.ready[server] = asked.getresponse().status == 200
                    asked.close()
                except OSError:
                    self.ready[server] = False
            time.sleep(CHECK_SECONDS)

    def work(self) -> None:
        lines: dict[str, http.client.HTTPSConnection] = {}
        which, context = self.context()
        while not self.stopped:
            with self.lock:
                number = self.number
                self.number += 1
            time.sleep(max(0.0, self.begun + number / self.rate - time.monotonic()))
            if (self.folder / "changed").read_text() != which:
                which, context = self.context()
                lines = {}
            self.call(number, lines, context)

    def call(self, number: int, lines: dict[str, http.client.HTTPSConnection], context: ssl.SSLContext) -> None:
        name, write = f"steady-{number // 2 % OBJECTS}", number % 2 == 0
        path = f"/api/v1/namespaces/default/configmaps/{name}"
        body = json.dumps({"data": {"number": str(number)}}) if write else None
        begun, why = time.monotonic(), ""
        for attempt in range(TRIES):
            server = self.pick(number + attempt)
            why = self.attempt(server, lines, context, path, body)
            if not why or time.monotonic() - begun > PATIENCE:
                break
            with self.lock:
                self.retries += 1
                self.reasons[why] = self.reasons.get(why, 0) + 1
            time.sleep(0.1 * attempt)
        with self.lock:
            self.counts["writes" if write else "reads"] += 1
            self.slowest = max(self.slowest, time.monotonic() - begun)
            if why:
                self.failures.append(f"{'PUT' if write else 'GET'} {name} number {number}: {why}")
            elif write:
                self.written[name] = max(number, self.written.get(name, 0))

    def pick(self, number: int) -> str:
        good = [server for server in self.servers if self.ready[server]] or self.servers
        return str(good[number % len(good)])

    def attempt(
        self,
        server: str,
        lines: dict[str, http.client.HTTPSConnection],
        context: ssl.SSLContext,
        path: str,
        body: str | None,
    ) -> str:
        """Empty when it went well."""
        try:
            line = lines.get(server) or self.connected(server, context)
            lines[server] = line
            kind = {"Content-Type": "application/merge-patch+json"} if body else {}
            line.request("PATCH" if body else "GET", path, body, kind)
            answer = line.getresponse()
            answer.read()
            if answer.status == 200:
                return ""
            why = f"status {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            why = f"{type(error).__name__}: {getattr(error, 'reason', None) or getattr(error, 'strerror', None) or ''}"
        if server in lines:
            lines.pop(server).close()
        return why

    def connected(self, server: str, context: ssl.SSLContext) -> http.client.HTTPSConnection:
        """By address, but checked by name, as everybody behind the balancer's name does."""
        line = http.client.HTTPSConnection(server, PORT)
        raw = socket.create_connection((server, PORT), TIMEOUT)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.sock = context.wrap_socket(raw, server_hostname=self.host)
        return line

    def report(self) -> dict[str, Any]:
        return {
            "calls": sum(self.counts.values()),
            **self.counts,
            "retries": self.retries,
            "reasons": self.reasons,
            "failures": self.failures,
            "slowest": round(self.slowest, 2),
            "seconds": round(time.monotonic() - self.begun, 1),
            "written": self.written,
        }


def main(folder: Path) -> None:
    steady = Steady(folder)
    threads = [threading.Thread(target=steady.watch), *(threading.Thread(target=steady.work) for _ in range(WORKERS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draft = folder / "report.new"
    draft.write_text(json.dumps(steady.report()))
    draft.replace(folder / "report.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
