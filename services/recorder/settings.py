"""What the recorder is told, as the add-on's stack writes it."""

from pathlib import Path
from typing import NamedTuple

from services.settings_file import document, require

from .errors import SettingsError


class Settings(NamedTuple):
    """`into` is the fleet bucket, `audit` are folders of it. `queues`: there are JobSets and Kueue's workloads.

    `machines` are where it may ask about them: regions of AWS, and resource groups of Azure by their ids.
    """

    cluster: str
    into: str
    teams: list[str]
    queues: bool
    audit: list[str]
    machines: list[str]


def read(file: Path) -> Settings:
    """Raises SettingsError."""
    found = document(file, SettingsError)
    require(file, found, Settings, SettingsError)
    return Settings(**found)
