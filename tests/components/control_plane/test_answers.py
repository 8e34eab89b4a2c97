"""What a unit waits for before it starts: servers that answer, each way of asking against real TLS."""

import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from components.control_plane.units import ON_MACHINE
from local.providers import tls

Server = tuple[str, dict[str, int]]


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One certificate that is everybody's, and its own authority."""
    folder = tmp_path_factory.mktemp("pki")
    key = str(tls._private_key({"algorithm": "ECDSA", "ecdsaCurve": "P256"})[1]["privateKeyPem"])
    told = {
        "privateKeyPem": key,
        "subject": {"commonName": "127.0.0.1"},
        "ipAddresses": ["127.0.0.1"],
        "isCaCertificate": True,
        "setSubjectKeyId": True,
        "validityPeriodHours": 1,
        "allowedUses": ["cert_signing", "digital_signature", "server_auth", "client_auth"],
    }
    (folder / "one.crt").write_text(str(tls._self_signed(told)[1]["certPem"]))
    (folder / "one.key").write_text(key)
    return folder


@contextmanager
def serving(pki: Path, statuses: list[int]) -> Iterator[Server]:
    """Answers with each status in turn, and with the last one for ever; only to who has a certificate."""
    seen = {"asked": 0}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses[min(seen["asked"], len(statuses) - 1)])
            self.send_header("Content-Length", "0")
            self.end_headers()
            seen["asked"] += 1

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki / "one.crt"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(pki / "one.crt", pki / "one.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/health", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def waits(pki: Path) -> Callable[..., tuple[float, str]]:
    """The script, as a unit runs it: how long it took, and what it said."""

    def run(*words: str, seconds: float = 30) -> tuple[float, str]:
        begun = time.monotonic()
        command = [sys.executable, str(ON_MACHINE / "answers.py"), str(seconds), str(pki / "one.crt"), str(pki / "one")]
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60, check=True)
        return time.monotonic() - begun, done.stderr

    return run


def test_it_waits_until_a_server_of_each_list_is_well(pki: Path, waits: Callable[..., tuple[float, str]]) -> None:
    with serving(pki, [503, 503, 200]) as (ailing, seen), serving(pki, [200]) as (well, other):
        took, said = waits(f"https://127.0.0.1:1/health,{ailing}", well)
    assert (seen["asked"], said) == (3, "")
    assert other["asked"] >= 1
    assert took < 25


def test_it_does_not_wait_for_ever_and_names_who_was_silent(pki: Path, waits: Callable[..., tuple[float, str]]) -> None:
    with serving(pki, [200]) as (well, _), serving(pki, [503]) as (ailing, _):
        took, said = waits(well, ailing, seconds=0.5)
    assert said == f"no answer in 0.5 s: {ailing}\n"
    assert took >= 0.5


def test_a_member_without_data_waits_for_nobody(
    pki: Path, tmp_path: Path, waits: Callable[..., tuple[float, str]]
) -> None:
    with serving(pki, [503]) as (ailing, seen):
        waits("--with", str(tmp_path / "member"), ailing)
        assert seen["asked"] == 0
        (tmp_path / "member").mkdir()
        waits("--with", str(tmp_path / "member"), ailing, seconds=0.1)
        assert seen["asked"] >= 1
