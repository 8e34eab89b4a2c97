"""What the local AWS keeps: moto's backends of all accounts and regions, and what our own modules know beside them."""

import importlib
import weakref
from functools import partial
from typing import Any

from local.worlds import moment, wsgi
from local.worlds.world import Cloud

from . import clock, commands, faults, machine_reports
from .extensions import announced, limits, offerings, vpn

# What a module knows beside moto.
STATE: tuple[tuple[Any, str], ...] = (
    (clock, "_ahead"),
    (commands, "_commands"),
    (faults, "_faults"),
    (machine_reports, "kept"),
    (machine_reports, "forced"),
    (machine_reports, "impaired"),
    (machine_reports, "health"),
    (machine_reports.endings, "waiting"),
    (machine_reports.detachments, "waiting"),
    (announced, "_announced"),
    (announced, "_reasons"),
    (limits, "_granted"),
    (offerings, "_told"),
    (vpn, "_tunnel_states"),
    (vpn, "_overrides"),
)
# By these, backends of EC2 find each other from their creation on: peerings reach across regions.
FINDERS = ("vpc_refs", "vpc_pcx_refs", "backend_refs")
# What somebody makes in IAM.
IAMS = ("roles", "users", "groups", "instance_profiles", "inline_policies", "open_id_providers", "access_keys")


def cloud(application: wsgi.Wsgi) -> Cloud:
    from moto import __version__
    from moto.core.base_backend import AccountSpecificBackend, BackendDict
    from moto.moto_api._internal import mock_random
    from moto.s3.models import S3BackendDict

    moment.install(mock_random.seed)

    named = {kind: (lambda one, _: (_backends, (one.backend,))) for kind in (BackendDict, S3BackendDict)}
    of_account = {AccountSpecificBackend: lambda one, _: (_account, (one.backend, one.account_id))}
    return Cloud(
        "the local AWS",
        f"moto {__version__}",
        partial(wsgi.answer, application),
        state,
        restore,
        reducers={**named, **of_account},
    )


def state() -> Any:
    from moto.core.base_backend import BackendDict

    found: list[Any] = []
    for backends in list(BackendDict._instances):
        beside = {name: value for name, value in vars(backends).items() if name == "bucket_accounts"}
        accounts = {
            name: {region: one for region, one in regions.items() if _used(backends.service_name, one)}
            for name, regions in backends.items()
        }
        found.append((backends, beside, accounts))
    return found, [getattr(owner, name) for owner, name in STATE]


def restore(saved: Any) -> None:
    found, values = saved
    for backends, beside, accounts in found:
        vars(backends).update(beside)
        for name, regions in accounts.items():
            for region, backend in regions.items():
                dict.__setitem__(backends[name], region, backend)
                for finder in FINDERS:
                    getattr(backend, finder, {type(backend): set()})[type(backend)].add(weakref.ref(backend))
    for (owner, name), value in zip(STATE, values, strict=True):
        setattr(owner, name, value)


def _used(service: str, backend: Any) -> bool:
    """moto has IAM of all partitions once it was asked of one, each with AWS's own 4 MiB of policies."""
    return service != "iam" or backend.region_name == "aws" or any(getattr(backend, name) for name in IAMS)


def _backends(backend: type) -> Any:
    """That of a service, by what it is made of."""
    from moto.core.base_backend import BackendDict

    module = importlib.import_module(backend.__module__)
    return next(one for one in vars(module).values() if isinstance(one, BackendDict) and one.backend is backend)


def _account(backend: type, account: str) -> Any:
    return _backends(backend)[account]
