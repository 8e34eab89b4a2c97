"""A real server of the local Azure on free ports of loopback, and Azure's own clients, which reach it by Azure's names."""

import functools
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import requests
from azure.core.credentials import AccessToken
from azure.core.pipeline.transport import RequestsTransport
from azure.identity import ClientSecretCredential
from requests.adapters import HTTPAdapter

from local.azure import sign_in, tokens
from local.azure.server import free_port

from . import shapes

SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"


class _ToLocal(HTTPAdapter):
    """Leads every name to one address; TLS and the Host header stay those of the name."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__()

    def get_connection_with_tls_context(self, request: Any, verify: Any, proxies: Any = None, cert: Any = None) -> Any:
        host, key = self.build_connection_pool_key_attributes(request, verify, cert)
        name = host["host"]
        host = {**host, "host": "127.0.0.1", "port": self.port}
        key = {**key, "server_hostname": name, "assert_hostname": name}
        return self.poolmanager.connection_from_host(**host, pool_kwargs=key)

    def add_headers(self, request: Any, **_: Any) -> None:
        request.headers["Host"] = urlsplit(request.url).hostname


class GivenToken:
    """A credential that is one token."""

    def __init__(self, token: str) -> None:
        self.token = token

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken(self.token, int(time.time()) + 3600)


class LocalAzure(NamedTuple):
    """`port` is our own API's, `tls` the names'; `authority` the file with whom to trust."""

    port: int
    tls: int
    authority: Path

    def transport(self) -> RequestsTransport:
        session = requests.Session()
        session.trust_env = False
        session.verify = str(self.authority)
        session.mount("https://", _ToLocal(self.tls))
        return RequestsTransport(session=session, session_owner=False, connection_verify=str(self.authority))

    def credential(self, client: str = tokens.CLIENT, secret: str = tokens.SECRET) -> ClientSecretCredential:
        return ClientSecretCredential(
            sign_in.TENANT, client, secret, transport=self.transport(), disable_instance_discovery=True
        )

    def client(self, kind: Any, token: str | None = None, **more: Any) -> Any:
        """A management client of azure-mgmt-…, the deployer's or whose token it has; `more` are its settings."""
        return kind(GivenToken(token or _token(self)), SUBSCRIPTION, transport=self.transport(), **more)

    def own(self, name: str, body: Any = None, method: str | None = None) -> Any:
        """Our own API: own("inventory") gets, own("pace", {…}) puts."""
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}/landbridge-api/{name}"
        asked = urllib.request.Request(url, data, method=method or ("GET" if data is None else "PUT"))
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def put(self, path: str, body: Any, version: str = "2024-05-01") -> requests.Response:
        """A plain request to ARM: for what Azure's clients would not send."""
        answer: requests.Response = self.ask("PUT", path, body, version)
        return answer

    def ask(self, method: str, path: str, body: Any = None, version: str | None = "2024-05-01", **headers: str) -> Any:
        token = _token(self)
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(self.authority)
            session.mount("https://", _ToLocal(self.tls))
            return session.request(
                method,
                f"https://management.azure.com{path}",
                params={"api-version": version} if version else {},
                json=body,
                headers={"Authorization": f"Bearer {token}", **headers},
                timeout=30,
            )


@functools.cache
def _token(azure: LocalAzure) -> str:
    return str(azure.credential().get_token("https://management.azure.com/.default").token)


STARTS, START_SECONDS = 3, 60.0
Made = TypeVar("Made")
Process = subprocess.Popen[bytes]


def started(start: Callable[[], tuple[Made, Process]], answers: Callable[[Made], bool]) -> tuple[Made, Process]:
    """A server on ports that were free a moment ago, and its process; on new ones if it ended, as somebody took them."""
    for _ in range(STARTS):
        made, server = start()
        deadline = time.monotonic() + START_SECONDS
        while server.poll() is None:
            if answers(made) and server.poll() is None:
                return made, server
            if time.monotonic() > deadline:
                server.kill()
                server.wait()
                raise AssertionError(f"{server.args} did not answer within {START_SECONDS} s")
            time.sleep(0.05)
    raise AssertionError(f"{server.args} ended with {server.returncode}, {STARTS} times")


def served(home: Path) -> Iterator[LocalAzure]:
    """A server, which ends with the generator."""

    def start() -> tuple[LocalAzure, Process]:
        made = LocalAzure(free_port(), free_port(), home / "azure-authority/ca.crt")
        command = [sys.executable, "-m", "local.azure.server", "--port", str(made.port), "--home", str(home)]
        return made, subprocess.Popen([*command, "--tls", f"127.0.0.1:{made.tls}"])

    def answers(made: LocalAzure) -> bool:
        try:
            made.own("inventory")
        except OSError:
            return False
        return True

    azure, server = started(start, answers)
    try:
        yield azure
    finally:
        server.terminate()
        server.wait(30)


def assert_model(model: Any, body: Any) -> None:
    """That JSON is the model's, such as azure.mgmt.network.models.VirtualNetwork, with nothing that it would not know."""
    # Azure's envelope, which some models leave out.
    found = shapes.problems(model, {name: value for name, value in body.items() if name not in ("type", "etag")})
    assert not found, "\n".join(found)
