"""HTTP to Azure's names, all of which are at one address; nothing here can reach another one.

Each connection is TLS under the name's own certificate, which the local cloud's authority must have signed.
"""

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import urllib3

from ..servicer import ProviderError

LOGIN, ARM = "login.microsoftonline.com", "management.azure.com"
TIMEOUT_SECONDS = 60.0
# What is left of a token's life when it is no longer used.
SPARE_SECONDS = 120


class Account(NamedTuple):
    """Whom a provider signs in as."""

    tenant: str
    client: str
    secret: str


class Answer(NamedTuple):
    """`headers` have names in small letters."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        """None where there is none."""
        try:
            return json.loads(self.data) if self.data else None
        except ValueError:
            return None


class Transport:
    """Connections and tokens, shared by every provider of the host. `address` is HOST:PORT, `authority` a file."""

    def __init__(self, address: str, authority: Path) -> None:
        self.host, _, port = address.rpartition(":")
        self.port, self.authority = int(port), authority
        self._pools: dict[str, urllib3.HTTPSConnectionPool] = {}
        self._tokens: dict[tuple[Account, str], tuple[float, str]] = {}
        self._making = threading.Lock()

    def ask(
        self,
        method: str,
        name: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """`path` is encoded already. Raises ProviderError when nobody answers under that name."""
        target = f"{path}?{urlencode(query)}" if query else path
        try:
            answer = self._pool(name).request(
                method,
                target,
                body=body,
                headers={"Host": name, **(headers or {})},
                redirect=False,
                retries=urllib3.Retry(0, read=0, redirect=0),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise ProviderError(f"the local Azure did not answer under {name}: {reason}") from None
        return Answer(answer.status, {key.lower(): value for key, value in answer.headers.items()}, answer.data)

    def token(self, account: Account, audience: str) -> str:
        """For `audience`, such as https://vault.azure.net. Raises ProviderError when the secret is wrong."""
        with self._making:
            until, token = self._tokens.get((account, audience), (0.0, ""))
            if time.monotonic() < until:
                return token
            form = {
                "grant_type": "client_credentials",
                "client_id": account.client,
                "client_secret": account.secret,
                "scope": f"{audience}/.default",
            }
            content = {"Content-Type": "application/x-www-form-urlencoded"}
            path = f"/{account.tenant}/oauth2/v2.0/token"
            answer = self.ask("POST", LOGIN, path, headers=content, body=urlencode(form).encode())
            body = answer.json or {}
            if answer.status != 200:
                reason = body.get("error_description", f"{LOGIN} answered {answer.status}")
                raise ProviderError(f"Azure signs the provider in for nothing: {reason}")
            until = time.monotonic() + body["expires_in"] - SPARE_SECONDS
            self._tokens[account, audience] = (until, body["access_token"])
            return str(body["access_token"])

    def _pool(self, name: str) -> urllib3.HTTPSConnectionPool:
        if name not in self._pools:  # two that make one at once leave one behind unused
            self._pools[name] = urllib3.HTTPSConnectionPool(
                self.host,
                self.port,
                maxsize=64,
                timeout=TIMEOUT_SECONDS,
                cert_reqs="CERT_REQUIRED",
                ca_certs=str(self.authority),
                server_hostname=name,
                assert_hostname=name,
            )
        return self._pools[name]
