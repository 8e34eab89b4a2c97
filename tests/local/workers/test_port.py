"""The kubelet's own port by itself: who may ask, what is answered, and that a renewed certificate counts at once."""

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from local.workers import log_lines
from local.workers.callers import Caller, Callers
from local.workers.container_logs import Log, NoLog, Wanted
from local.workers.containers import NotRunning
from local.workers.pod_container import PodContainer
from local.workers.port import KubeletPort, Served
from tests.components.pools.joining_client import eventually
from tests.support.node_certificates import Pair, certificate

ROOT, STRANGER = certificate("cluster", ca=True), certificate("stranger", ca=True)
MAY = "kube-apiserver-kubelet-client"
ACCOUNT = "system:serviceaccount:monitoring:metrics"
TOKENS = {"good": {"authenticated": True, "user": {"username": ACCOUNT, "groups": ["system:serviceaccounts"]}}}
USED = "node_cpu_usage_seconds_total 1.000 1000\n"


class Api:
    """Decides, and remembers who was asked about."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def ask(self, _method: str, _path: str, body: Any) -> Any:
        self.asked.append(body["spec"])
        if body["kind"] == "TokenReview":
            return {"status": TOKENS.get(body["spec"]["token"], {"authenticated": False})}
        return {"status": {"allowed": body["spec"]["user"] in (MAY, ACCOUNT)}}


class Port:
    def __init__(self, folder: Path) -> None:
        self.folder, self.api, self.ended = folder, Api(), False
        self.certificate, self.authority = folder / "pair.pem", folder / "ca.crt"
        self.authority.write_text(ROOT.pem)
        self.renew()
        self.print("one")
        callers = Callers(self.api, "host-2.lab")  # type: ignore[arg-type]
        self.server = KubeletPort(Served("127.0.0.1", self.certificate, self.authority, callers, self), 0)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def print(self, line: str) -> None:
        with (self.folder / "0.log").open("ab") as file:
            file.write(log_lines.entries(f"{line}\n".encode())[0])

    def renew(self) -> str:
        """The new one's serial number."""
        made = certificate("system:node:host-2.lab", ROOT, purpose=ExtendedKeyUsageOID.SERVER_AUTH)
        made.file(self.folder)
        return f"{made.certificate.serial_number:X}"

    def log(self, namespace: str, pod: str, container: str, _asked: Wanted) -> Log:
        if (namespace, pod, container) != ("default", "one", "main"):
            raise NoLog(f"{namespace}/{pod} {container}: no such log")
        return Log(self.folder / "0.log", lambda: self.ended)

    def inside(self, namespace: str, pod: str, container: str) -> PodContainer:
        raise NotRunning(f"{namespace}/{pod} {container}: nothing runs")

    def runs(self, namespace: str, pod: str) -> None:
        raise NotRunning(f"{namespace}/{pod}: nothing runs")

    def used(self) -> str:
        return USED

    def line(self, who: Pair | None) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=self.authority)
        context.check_hostname = False
        if who:
            folder = self.folder / "caller"
            folder.mkdir(exist_ok=True)
            context.load_cert_chain(who.file(folder))
        return http.client.HTTPSConnection("127.0.0.1", self.server.server_port, timeout=30, context=context)

    def __call__(self, who: Pair | None, path: str, method: str = "GET", token: str = "") -> tuple[int, str]:
        line = self.line(who)
        try:
            line.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = line.getresponse()
            return answer.status, answer.read().decode()
        finally:
            line.close()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Port]:
    made = Port(tmp_path)
    yield made
    made.server.shutdown()
    made.server.server_close()


ALLOWED = certificate(MAY, ROOT, organization="kube-apiserver")
LOG = "/containerLogs/default/one/main"


def test_it_answers_those_who_may_and_asks_the_api_server_once_a_minute(port: Port, monkeypatch: Any) -> None:
    assert port(ALLOWED, LOG) == (200, "one\n")
    assert port(ALLOWED, "/healthz") == (200, "ok")
    (log, health) = port.api.asked
    what = {"verb": "get", "version": "v1", "resource": "nodes", "name": "host-2.lab"}
    assert log == {
        "user": MAY,
        "groups": ["kube-apiserver", "system:authenticated"],
        "resourceAttributes": {**what, "subresource": "proxy"},
    }
    assert health["resourceAttributes"]["subresource"] == "healthz"
    assert port(ALLOWED, LOG) == (200, "one\n")
    assert len(port.api.asked) == 2
    monkeypatch.setattr("local.workers.callers.KNOWN_SECONDS", -1.0)
    port.server.served.callers.known.clear()
    for _ in range(2):
        assert port(ALLOWED, LOG) == (200, "one\n")
    assert len(port.api.asked) == 4


def test_it_refuses_all_others(port: Port) -> None:
    for path in (LOG, "/healthz", "/exec/default/one/main"):
        assert port(None, path) == (401, "Unauthorized")
    assert not port.api.asked
    status, text = port(certificate("system:node:host-1.lab", ROOT), LOG)
    assert (status, text) == (
        403,
        "Forbidden (user=system:node:host-1.lab, verb=get, resource=nodes, subresource(s)=[proxy])",
    )
    exec_path = "/exec/default/one/main?command=true&output=1"
    for method, verb in (("GET", "get"), ("POST", "create")):
        status, text = port(certificate("system:node:host-1.lab", ROOT), exec_path, method)
        assert (status, f"verb={verb}, resource=nodes, subresource(s)=[proxy]" in text) == (403, True)
    assert [one["resourceAttributes"]["verb"] for one in port.api.asked] == ["get", "create"]
    for who in (certificate(MAY, STRANGER), certificate(MAY, ROOT, purpose=ExtendedKeyUsageOID.SERVER_AUTH)):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            port(who, LOG)
    assert Caller(MAY, ()) not in {who for who, *_ in port.server.served.callers.known}


def test_a_token_is_worth_what_the_api_server_says_of_it(port: Port) -> None:
    assert port(None, "/metrics/resource", token="good") == (200, USED)
    (token, may) = port.api.asked
    assert token == {"token": "good"}
    assert (may["user"], may["groups"]) == (ACCOUNT, ["system:authenticated", "system:serviceaccounts"])
    assert may["resourceAttributes"]["subresource"] == "metrics"
    assert port(None, "/metrics/resource", token="good") == (200, USED)
    assert len(port.api.asked) == 2, "it is known for a while"
    assert port(None, "/metrics/resource", token="bad") == (401, "Unauthorized")
    assert port(certificate("system:node:host-1.lab", ROOT), "/metrics/resource", token="good")[0] == 403


def test_what_is_not_there_is_said(port: Port) -> None:
    assert port(ALLOWED, "/containerLogs/default/other/main") == (400, "default/other main: no such log")
    assert port(ALLOWED, f"{LOG}?colour=on") == (400, "local machines do not know colour")
    for query, why in (
        ("command=true&output=1", "default/other main: nothing runs"),
        ("output=1", "no command is given"),
        ("command=true", "you must specify at least 1 of stdin, stdout, stderr"),
    ):
        assert port(ALLOWED, f"/exec/default/other/main?{query}", "POST") == (400, why)
    for method, path in (("GET", "/pods"), ("POST", "/attach/default/one/main"), ("GET", "/containerLogs/one")):
        assert port(ALLOWED, path, method)[0] == 404


def test_who_follows_hears_each_line_and_the_end(port: Port) -> None:
    line = port.line(ALLOWED)
    line.request("GET", f"{LOG}?follow=true")
    answer = line.getresponse()
    assert answer.readline() == b"one\n"
    port.print("two")
    assert answer.readline() == b"two\n"
    port.ended = True
    assert answer.read() == b""
    line.close()


def test_nothing_stays_of_who_hangs_up(port: Port) -> None:
    before = threading.active_count()
    line = port.line(ALLOWED)
    line.request("GET", f"{LOG}?follow=true")
    assert line.getresponse().readline() == b"one\n"
    assert threading.active_count() == before + 1
    assert line.sock
    line.sock.shutdown(socket.SHUT_RDWR)
    line.close()
    eventually(lambda: threading.active_count() == before, 20)


def test_a_slow_caller_holds_up_nobody_and_a_new_certificate_counts_at_once(port: Port) -> None:
    with socket.create_connection(("127.0.0.1", port.server.server_port)):
        for _ in range(2):
            number = port.renew()
            line = port.line(ALLOWED)
            line.connect()
            shown = x509.load_der_x509_certificate(line.sock.getpeercert(binary_form=True))
            assert f"{shown.serial_number:X}" == number
            line.close()
