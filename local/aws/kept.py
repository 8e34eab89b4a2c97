"""What the local AWS keeps: moto's backends of all accounts and regions, and what our own modules know beside them."""

import importlib
import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from local.worlds import moment
from local.worlds.kept import Answer, Cloud

from . import clock, commands, faults, keeping
from .extensions import limits, vpn

# Of a request: what says what is asked, and by whom.
PLAIN = (str, bool)
# What a module knows beside moto.
STATE: tuple[tuple[Any, str], ...] = (
    (clock, "_ahead"),
    (commands, "_commands"),
    (faults, "_faults"),
    (keeping, "kept"),
    (keeping, "forced"),
    (keeping, "impaired"),
    (keeping, "health"),
    (keeping.endings, "waiting"),
    (keeping.detachments, "waiting"),
    (limits, "_granted"),
    (vpn, "_told"),
    (vpn, "_asked"),
)


class Call(NamedTuple):
    """A request as WSGI has it."""

    environ: dict[str, Any]
    body: bytes

    @property
    def words(self) -> str:
        """Without what may be a secret."""
        environ = self.environ
        action = environ.get("HTTP_X_AMZ_TARGET", "")
        if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
            action = next((part for part in self.body[:2000].decode("latin-1").split("&") if part[:7] == "Action="), "")
        return f"{environ['REQUEST_METHOD']} {environ.get('PATH_INFO', '')} {action}".strip()


def call(environ: dict[str, Any], body: bytes) -> Call:
    return Call({name: value for name, value in environ.items() if type(value) in PLAIN}, body)


def cloud(application: Callable[[Any, Any], Iterable[bytes]]) -> Cloud:
    from moto import __version__
    from moto.core.base_backend import AccountSpecificBackend, BackendDict
    from moto.moto_api._internal import mock_random
    from moto.s3.models import S3BackendDict

    moment.install(mock_random.seed)

    def answer(asked: Call) -> Answer:
        said: list[Any] = []
        environ = {
            **asked.environ,
            "wsgi.input": io.BytesIO(asked.body),
            "wsgi.errors": sys.stderr,
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        parts = application(environ, lambda status, headers, _=None: said.append((status, headers)))
        try:
            body = b"".join(parts)
        finally:
            close = getattr(parts, "close", None)
            if close:
                close()
        return Answer(*said[-1], body)

    named = {kind: (lambda one, _: (_backends, (one.backend,))) for kind in (BackendDict, S3BackendDict)}
    of_account = {AccountSpecificBackend: lambda one, _: (_account, (one.backend, one.account_id))}
    return Cloud("the local AWS", f"moto {__version__}", answer, state, restore, reducers={**named, **of_account})


def state() -> Any:
    from moto.core.base_backend import BackendDict

    found: list[Any] = []
    for backends in list(BackendDict._instances):
        beside = {name: value for name, value in vars(backends).items() if name == "bucket_accounts"}
        found.append((backends, beside, {name: dict(regions) for name, regions in backends.items()}))
    return found, [getattr(owner, name) for owner, name in STATE]


def restore(kept: Any) -> None:
    found, values = kept
    for backends, beside, accounts in found:
        vars(backends).update(beside)
        for name, regions in accounts.items():
            for region, backend in regions.items():
                dict.__setitem__(backends[name], region, backend)
    for (owner, name), value in zip(STATE, values, strict=True):
        setattr(owner, name, value)


def _backends(backend: type) -> Any:
    """That of a service, by what it is made of."""
    from moto.core.base_backend import BackendDict

    module = importlib.import_module(backend.__module__)
    return next(one for one in vars(module).values() if isinstance(one, BackendDict) and one.backend is backend)


def _account(backend: type, account: str) -> Any:
    return _backends(backend)[account]
