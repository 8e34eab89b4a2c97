"""What the service is told, as the add-on's stack writes it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from .errors import SettingsError


class Backup(NamedTuple):
    """A ring's snapshots in one bucket: right below `folder` of `into`. None is older than `due_seconds` when all is
    well. `where` is home or copy.
    """

    ring: str
    where: str
    region: str
    into: str
    folder: str
    due_seconds: int


class Connection(NamedTuple):
    """Two tunnels, or more, of a link with `place`. `named` is AWS's tag Name, or Azure's id."""

    link: str
    place: str
    region: str
    connection: str
    named: str


class Settings(NamedTuple):
    """`nodes_most` are those that the address plan has room for: by zones' names, and in the cluster under an empty
    one.
    """

    backups: list[Backup]
    connections: list[Connection]
    nodes_most: dict[str, int]


def read(file: Path) -> Settings:
    """Raises SettingsError."""
    try:
        found = json.loads(file.read_text())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{file}: it is no JSON: {error}") from None
    _has(file, found, Settings)
    for kind, rows in ((Backup, found["backups"]), (Connection, found["connections"])):
        for row in rows:
            _has(file, row, kind)
    return Settings(
        [Backup(**row) for row in found["backups"]],
        [Connection(**row) for row in found["connections"]],
        found["nodes_most"],
    )


def _has(file: Path, found: Any, kind: type[Any]) -> None:
    wanted = kind.__annotations__
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        raise SettingsError(f"{file}: {kind.__name__} has to have {', '.join(wanted)}, and nothing else")
