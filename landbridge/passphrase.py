"""The passphrase of secrets in Pulumi's state, asked for before a run begins: Pulumi would ask in the midst of it."""

from collections.abc import Mapping
from pathlib import Path

from .errors import UsageError

VARIABLE, FILE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
REMEDY = f"Set {VARIABLE} to what your team shares, or {FILE} to a file with it."


def passed_on(fleet_file: str, given: Mapping[str, str]) -> dict[str, str]:
    """What Pulumi must have in its environment beside `given`: it runs in another folder. Raises UsageError.

    An empty passphrase, which Pulumi takes, would encrypt nothing.
    """
    if VARIABLE in given:  # Pulumi then looks no further
        return {} if given[VARIABLE] else refuse(fleet_file, f"{VARIABLE} is empty")
    if not (named := given.get(FILE)):
        return refuse(fleet_file, "there is none")
    try:
        known = Path(named).read_bytes().strip()
    except OSError as error:
        return refuse(fleet_file, f"{FILE} can't be read: {named}: {error.strerror}")
    return {FILE: str(Path(named).absolute())} if known else refuse(fleet_file, f"{FILE} is an empty file: {named}")


def refuse(fleet_file: str, why: str) -> dict[str, str]:
    raise UsageError(f"{fleet_file}: a passphrase encrypts secrets in Pulumi's state, and {why}. {REMEDY}")
