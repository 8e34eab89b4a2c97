"""Whether a command is for the local cloud where its command line does not say: by the environment, or a file's word.

Every command asks early, so what only some need is imported where they do.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.errors import FleetError
from fleet.where import fleet_path
from landbridge.errors import UsageError

VARIABLE = "LANDBRIDGE_LOCAL"
WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
# Beside the fleet file. The fleet file itself says what a fleet is, whichever world it stands in.
FILE = ".landbridge.yaml"
KEY = "local"
FORM = f"Write `{KEY}: true` or `{KEY}: false`, and nothing else"


def local(said: bool | None, fleet: Path | None, environment: Mapping[str, str] = os.environ) -> bool:  # noqa: FBT001
    """What is `said` by an option, else by LANDBRIDGE_LOCAL, else beside the fleet file. Raises UsageError."""
    if said is not None:
        return said
    if word := environment.get(VARIABLE):
        if word.lower() not in WORDS:
            raise UsageError(f"{VARIABLE} is {word!r}, and says neither yes nor no: {VARIABLE}=1 or {VARIABLE}=0.")
        return WORDS[word.lower()]
    return by_settings(fleet)


def by_settings(fleet: Path | None) -> bool:
    """False where there are none. Raises UsageError for a file that says something else."""
    with contextlib.suppress(FleetError):  # no fleet file: the command says so itself, if it wants one
        file = fleet_path(fleet).with_name(FILE)
        if file.is_file():
            return read(file)
    return False


def read(file: Path) -> bool:
    """Raises UsageError with the line."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    settings: Any
    try:
        settings = YAML().load(file.read_text())
    except (YAMLError, OSError, UnicodeDecodeError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise UsageError(f"{where}: it can't be read. {FORM}.") from None
    if not isinstance(settings, CommentedMap) or not settings:
        raise UsageError(f"{file}:1: these are no settings. {FORM}.")
    for name in settings:
        if name != KEY:
            raise UsageError(f"{file}:{settings.lc.key(name)[0] + 1}: there is no setting {name}. {FORM}.")
    if not isinstance(settings.get(KEY), bool):
        raise UsageError(f"{file}:{settings.lc.key(KEY)[0] + 1}: `{KEY}` is neither true nor false. {FORM}.")
    return bool(settings[KEY])
