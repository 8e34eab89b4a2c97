"""A site's gateways as folders: everything that goes onto each, ready to be installed there."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from components.links.gateway import ipsec
from components.links.gateway.files import whole
from components.links.gateway.spec import GatewaySpec
from components.links.gateway.stamp import LIST, plan
from fleet.world import World
from landbridge.errors import UsageError
from landbridge.links.info import Connections
from landbridge.places import Place

OPEN, SECRET = 0o644, 0o600


class Rendered(NamedTuple):
    """`files` are paths on the gateway."""

    gateway: str
    folder: Path
    plan: str
    tunnels: tuple[str, ...]
    files: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "folder": str(self.folder)}


def checked(world: World, site: str) -> str:
    """Raises UsageError for a site that the fleet file does not have."""
    if site not in world.fleet.sites:
        known = f"Its sites: {', '.join(world.fleet.sites)}." if world.fleet.sites else "It has no sites."
        raise UsageError(f"{world.path.name} has no site {site}. {known}")
    return site


def rendered(world: World, place: Place, site: str, folder: Path) -> list[Rendered]:
    """Writes one folder a gateway below `folder`. Raises LandbridgeError, and then nothing is written."""
    links = Connections(world, place, site)
    specs, keys = links.gateways(site), links.keys()
    made = {one.address: (one, whole(one, keys)) for one in specs}
    for address in made:
        _free(folder / address)
    return [_written(folder / address, spec, files) for address, (spec, files) in made.items()]


def _free(target: Path) -> None:
    """Nobody's, or written by us before."""
    if target.exists() and not (target / LIST.lstrip("/")).exists():
        raise UsageError(f"{target} is there already, and no gateway's folder. Name another place with --output.")


def _written(target: Path, spec: GatewaySpec, files: Mapping[str, str]) -> Rendered:
    draft = target.with_name(f".{target.name}.new")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        for path, text in files.items():
            file = draft / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = SECRET if path == ipsec.SECRETS else OPEN
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as writing:
                writing.write(text)
        draft.chmod(0o700)
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}: name another place with --output") from None
    names = tuple(end.name for end in spec.ends)
    return Rendered(spec.address, target, plan(spec), names, tuple(sorted(files)))
