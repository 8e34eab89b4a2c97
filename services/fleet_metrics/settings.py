"""What the service is told, as the add-on's stack writes it."""

from pathlib import Path
from typing import NamedTuple

from services.settings_file import document, require

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
    found = document(file, SettingsError)
    require(file, found, Settings, SettingsError)
    for kind, rows in ((Backup, found["backups"]), (Connection, found["connections"])):
        for row in rows:
            require(file, row, kind, SettingsError)
    return Settings(
        [Backup(**row) for row in found["backups"]],
        [Connection(**row) for row in found["connections"]],
        found["nodes_most"],
    )
