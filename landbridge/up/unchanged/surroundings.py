"""What surrounds every stack's program alike: our code, the packages under it, the engine, the project's settings."""

import hashlib
import os
import platform
import sys
import sysconfig
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from fleet import witness
from landbridge.local import meant
from landbridge.local.enter import ROOT
from landbridge.places import Place

from .record import digest

# Read where modules are imported, which no program's own account can tell.
PREFIXES = ("PULUMI_", "LANDBRIDGE_", "AWS_", "AZURE_", "ARM_", "KUBE", "PYTHON")
# Each run's own, or nothing that a program goes by.
OWN = {"LANDBRIDGE_WITNESS", "LANDBRIDGE_INTERPRETER", "LANDBRIDGE_STACK", meant.VARIABLE, "PULUMI_PARALLEL"}
# What opens doors, new for each run where it is short-lived. Which door is said by other variables (profile, role,
# tenant), what a cloud says is asked again by these, and what a program reads of them itself is on its record.
CREDENTIALS = {
    "PULUMI_ACCESS_TOKEN",
    "PULUMI_CONFIG_PASSPHRASE",
    "PULUMI_CONFIG_PASSPHRASE_FILE",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_CREDENTIAL_EXPIRATION",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "ARM_CLIENT_SECRET",
    "ARM_OIDC_TOKEN",
    "ARM_OIDC_REQUEST_TOKEN",
    "ARM_OIDC_REQUEST_URL",
    "AZURE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE",
}


def surroundings(place: Place, passed: Mapping[str, str], command: str) -> dict[str, str]:
    """By name: digests. `passed` is the programs' environment, `command` the path of pulumi."""
    left_out = OWN | CREDENTIALS
    settings = {name: value for name, value in passed.items() if name.startswith(PREFIXES) and name not in left_out}
    return {
        "our code": code(ROOT),
        "the Python packages": packages(),
        "the engine": digest([identity(Path(command)), identity(Path(command).with_name("pulumi-language-python"))]),
        "the environment": digest(settings),
        "Pulumi.yaml": digest((place.project / "Pulumi.yaml").read_text()),
        "the backend": digest(place.backend.partition("?")[0] if place.world == "real" else place.world),
    }


def settings_of(place: Place, stack: str) -> dict[str, str]:
    """What Pulumi keeps for one stack, and what ESC does: as long as nobody can say what that is, another each time."""
    file = place.settings_folder / f"Pulumi.{stack}.yaml"
    found = {file.name: digest(file.read_text()) if file.exists() else ""}
    if stack in place.environments.named:
        found["its environment of Pulumi ESC"] = place.environments.rest or uuid.uuid4().hex
    return found


@cache
def code(root: Path) -> str:
    """Of every file that is no compiled one, below the folders of programs; `landbridge` decides nothing in them."""
    sha256 = hashlib.sha256()
    for folder in witness.FOLDERS:
        for path in files(root / folder):
            sha256.update(f"{path.removeprefix(str(root))}\n".encode())
            sha256.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return sha256.hexdigest()[:32]


def files(folder: Path) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (os.path.join(where, name) for name in sorted(names) if not name.endswith(".pyc"))  # noqa: PTH118


@cache
def packages() -> str:
    """Python and what is installed beside it, by names, versions and the times they were laid there."""
    site = Path(sysconfig.get_paths()["purelib"])
    laid = sorted((one.name, one.stat().st_mtime_ns) for one in site.iterdir() if one.name.endswith(".dist-info"))
    return digest([platform.python_version(), sys.prefix, laid])


def identity(program: Path) -> list[object]:
    try:
        status = program.resolve().stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
