"""What the service is told, as the add-on's stack writes it."""

from pathlib import Path
from typing import Any, NamedTuple

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


class Restores(NamedTuple):
    """What drills have left in one bucket of restores of a ring that they tested: right below `folder` of `into`. The
    last is older than `due_seconds` where nobody tries any more.
    """

    ring: str
    region: str
    into: str
    folder: str
    due_seconds: int


class Drift(NamedTuple):
    """What looks at drift have left in one bucket of a cluster's stacks: below `folder` of `into`."""

    region: str
    into: str
    folder: str


class Connection(NamedTuple):
    """Two tunnels, or more, of a link with `place`. `named` is AWS's tag Name, or Azure's id."""

    link: str
    place: str
    region: str
    connection: str
    named: str


class Peer(NamedTuple):
    """Whom a gateway of Azure speaks BGP with in a connection: the address `peer`. `named` is the gateway's id."""

    link: str
    place: str
    region: str
    connection: str
    peer: str
    named: str


class Quota(NamedTuple):
    """Of an account in a region, in vCPUs. `named` is AWS's code, or the id of Azure's list of usages and a name there.
    Pools that are as large as they may grow use `planned_vcpus` of it.
    """

    region: str
    quota: str
    named: str
    planned_vcpus: int


class Image(NamedTuple):
    """What a pool's machines start from. `named` is AWS's parameter, as launch templates have it, or the id of Azure's
    scale set. The fleet takes none that is older than `due_seconds`.
    """

    pool: str
    region: str
    named: str
    due_seconds: int


class Share(NamedTuple):
    """`named` is the id of AWS's file system, which has all shares, whose name is empty then; or of Azure's share."""

    region: str
    share: str
    named: str


class Settings(NamedTuple):
    """`nodes_most` are those that the address plan has room for: by zones' names, and in the cluster under an empty
    one.
    """

    backups: list[Backup]
    restores: list[Restores]
    drift: list[Drift]
    connections: list[Connection]
    peers: list[Peer]
    quotas: list[Quota]
    images: list[Image]
    shares: list[Share]
    nodes_most: dict[str, int]


ROWS: dict[str, type[Any]] = {
    "backups": Backup,
    "restores": Restores,
    "drift": Drift,
    "connections": Connection,
    "peers": Peer,
    "quotas": Quota,
    "images": Image,
    "shares": Share,
}


def read(file: Path) -> Settings:
    """Raises SettingsError."""
    found = document(file, SettingsError)
    require(file, found, Settings, SettingsError)
    for what, kind in ROWS.items():
        for row in found[what]:
            require(file, row, kind, SettingsError)
    return Settings(**{**found, **{what: [kind(**row) for row in found[what]] for what, kind in ROWS.items()}})
