"""What the recorder is told, as the add-on's stack writes it."""

import json
from pathlib import Path
from typing import NamedTuple

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
    try:
        found = json.loads(file.read_text())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{file}: it is no JSON: {error}") from None
    wanted = Settings.__annotations__
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        raise SettingsError(f"{file}: it has to have {', '.join(wanted)}, and nothing else")
    return Settings(**found)
