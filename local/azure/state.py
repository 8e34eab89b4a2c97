"""What the local Azure keeps: its store and operations, and what our own modules know beside them."""

from functools import partial
from typing import Any

from local.worlds import wsgi
from local.worlds.world import Cloud

from . import directories, faults, outages, tokens
from .blobs import contents, sas
from .compute import limits, sizes
from .errors import ArmError
from .kinds import World

# What a module knows beside the world. Keys are among it: tokens that were given hold on.
STATE: tuple[tuple[Any, str], ...] = (
    (contents, "_last"),
    (directories, "_of"),
    (faults, "_planned"),
    (limits, "_capacity"),
    (limits, "_quotas"),
    (sizes, "_told"),
    (outages, "_out"),
    (sas, "_MASTER"),
    (tokens, "_KEY"),
)


def cloud(world: World, application: wsgi.Wsgi) -> Cloud:
    def state() -> Any:
        return world, [getattr(owner, name) for owner, name in STATE]

    def restore(saved: Any) -> None:
        found, values = saved
        vars(world).update(vars(found))
        for (owner, name), value in zip(STATE, values, strict=True):
            setattr(owner, name, value)

    return Cloud(
        "the local Azure",
        "the second",
        partial(wsgi.answer, application),
        state,
        restore,
        # What an operation is yet to do is a function.
        waits=lambda: bool(world.operations.running()),
        reducers={ArmError: _error},
    )


def _error(error: ArmError, _: Any) -> Any:
    return _again, (error.status, error.code, error.message, error.headers, error.details)


def _again(status: int, code: str, message: str, headers: Any, details: Any) -> ArmError:
    return ArmError(status, code, message, headers=headers, details=details)
