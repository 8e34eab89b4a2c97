"""Requests to one API server: TLS as the kubeconfig says, bounded times, and its answers as they are."""

import json
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, SSLError

from ..servicer import ProviderError
from .credentials import Command, Credential
from .kubeconfig import Access

APPLY, MERGE, JSON = "application/apply-patch+yaml", "application/merge-patch+json", "application/json"
CONNECT_SECONDS, READ_SECONDS = 5.0, 60.0  # webhooks may take 30 s
# An API server that restarts, a balancer that changes its target, an etcd that elects: over in this time.
PATIENCE_SECONDS = 20.0
AGAIN = {429, 502, 503, 504}
CONNECTIONS = 16  # as many as the engine's calls at a time

Object = dict[str, Any]


class Unreachable(ProviderError):
    """No answer, or none that can be trusted."""


class ApiError(ProviderError):
    """The API server's refusal; `status` is its Status object."""

    def __init__(self, code: int, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message") or f"the API server answered {code}"))
        self.code, self.status = code, status

    @property
    def reason(self) -> str:
        return str(self.status.get("reason") or "")

    @property
    def causes(self) -> list[Mapping[str, Any]]:
        return list((self.status.get("details") or {}).get("causes") or [])

    @property
    def about(self) -> str:
        """The resource that the answer is about, such as namespaces."""
        return str((self.status.get("details") or {}).get("kind") or "")


class Api:
    """`cancelled` ends retries."""

    def __init__(self, access: Access, cancelled: threading.Event) -> None:
        self.access, self.cancelled = access, cancelled
        self._command = Command(access.exec) if access.exec else None
        self._lock = threading.Lock()
        self._pools: dict[Credential, urllib3.HTTPSConnectionPool] = {}

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content: str = JSON,
        *,
        patience: float = PATIENCE_SECONDS,
        warn: Callable[[str], None] | None = None,
    ) -> Object:
        """Raises ApiError and Unreachable."""
        url = f"{urlsplit(self.access.server).path}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        deadline, pause, renewed = time.monotonic() + patience, 0.2, False
        while True:
            last = time.monotonic() >= deadline or self.cancelled.is_set()
            try:
                answer = self._send(method, url, data, content, fresh=renewed)
            except SSLError as error:
                raise Unreachable(f"{self.access.server} can't be trusted: {_cause(error)}") from None
            except (HTTPError, OSError) as error:
                if last:
                    raise Unreachable(f"{self.access.server} does not answer: {_cause(error)}") from None
            else:
                parsed = _parsed(answer)
                for line in answer.headers.getlist("Warning") if warn else []:
                    assert warn is not None
                    warn(_warning(line))
                if answer.status < 400:
                    return parsed
                if answer.status == 401 and self._command and not renewed:
                    renewed = True
                    continue
                if last or not _passing(answer.status, parsed):
                    raise ApiError(answer.status, parsed)
            self.cancelled.wait(pause)
            pause = min(2 * pause, 2.0)

    def _send(self, method: str, url: str, data: bytes | None, content: str, *, fresh: bool) -> Any:
        access = self.access
        credential = self._command.credential(fresh=fresh) if self._command else None
        credential = credential or Credential(access.crt, access.key, access.token)
        headers = {"Accept": JSON, "User-Agent": "pulumi-kubernetes (landbridge local cloud)"}
        if data is not None:
            headers["Content-Type"] = content
        if credential.token:
            headers["Authorization"] = f"Bearer {credential.token}"
        return self._pool(credential).urlopen(method, url, body=data, headers=headers, redirect=False)

    def _pool(self, credential: Credential) -> urllib3.HTTPSConnectionPool:
        with self._lock:
            if credential not in self._pools:
                where, name = urlsplit(self.access.server), self.access.server_name or None
                self._pools = {  # an older credential's connections close by themselves
                    credential: urllib3.HTTPSConnectionPool(
                        where.hostname or "",
                        where.port or 443,
                        maxsize=CONNECTIONS,
                        timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
                        retries=False,
                        ssl_context=_tls(self.access.authority, credential),
                        server_hostname=name,
                        assert_hostname=name,
                    )
                }
            return self._pools[credential]


def _tls(authority: str, credential: Credential) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=authority or None)
        if credential.crt:
            # The only way in is a file: one in memory, which is gone when it is closed.
            descriptor = os.memfd_create("client", os.MFD_CLOEXEC)
            try:
                os.write(descriptor, f"{credential.crt}\n{credential.key}\n".encode())
                context.load_cert_chain(f"/proc/self/fd/{descriptor}")
            finally:
                os.close(descriptor)
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise ProviderError(
            f"the kubeconfig's certificates or key can't be used ({reason}): `landbridge kubeconfig` writes a new one"
        ) from None
    return context


def _parsed(answer: Any) -> Object:
    try:
        parsed = json.loads(answer.data)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    return {"message": answer.data.decode(errors="replace").strip()[:500], "code": answer.status}


def _passing(code: int, status: Mapping[str, Any]) -> bool:
    """Whether the same request may well pass in a moment."""
    text = str(status.get("message", ""))
    # https://github.com/kubernetes/kubernetes/issues/94518: an election of etcd is told as an internal error.
    return code in AGAIN or (code == 500 and bool(re.search(r"etcdserver: |leader changed|context deadline", text)))


def _cause(error: BaseException) -> str:
    """The innermost reason: the outer ones repeat the address and the pool's innards."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return _cause(inner)
    text = str(error.__cause__ or error)
    return re.sub(r"^<?[\w.()=, '<>-]*(?:object at 0x\w+>|port=\d+\)): ", "", text)


def _warning(header: str) -> str:
    """The text in `299 - "text"`."""
    found = re.fullmatch(r'\d{3} \S+ "(.*)"', header)
    return found[1].replace('\\"', '"') if found else header
