"""Where a fleet's images are published to: its regions on AWS, or a folder of one of its sites."""

import getpass
import socket
from collections.abc import Sequence
from pathlib import Path

from botocore.config import Config

from fleet.world import World
from images.running import cache_folder
from images.stores import signed
from images.stores.aws import Aws, Waits
from images.stores.aws_calls import CREDENTIALS, told
from images.stores.blocks import WORKERS
from images.stores.site import Site
from images.stores.store import Store

from .cluster.session import clients_at
from .errors import UsageError
from .places import Place

# A copy is asked after every half a minute for four hours; the local cloud's takes less than a second.
LOCAL = Waits(0.2, 600)
PATIENT = Config(retries={"mode": "standard", "total_max_attempts": 10}, max_pool_connections=2 * WORKERS)


def regions(world: World, named: Sequence[str]) -> list[str]:
    """Those on AWS, in the order of the fleet file. Raises UsageError for one that is not."""
    known = [name for name, region in world.fleet.regions.items() if region.cloud == "aws"]
    for name in named:
        if name not in known:
            raise UsageError(f"{world.path.name} has no region {name} on AWS. Name one of: {', '.join(known)}")
    if not known:
        raise UsageError(f"{world.path.name} has no region on AWS: publish to a site, with --site")
    return [name for name in known if not named or name in named]


def in_regions(world: World, place: Place, named: Sequence[str]) -> Aws:
    return Aws(
        world.fleet.fleet,
        regions(world, named),
        lambda region: clients_at(world, place, region, PATIENT),
        cache_folder("publishing") / world.fleet.fleet,
        LOCAL if place.world == "local" else Waits(),
    )


def at_site(world: World, site: str, folder: Path, key: Path) -> Site:
    if site not in world.fleet.sites:
        known = ", ".join(world.fleet.sites) or "none"
        raise UsageError(f"{world.path.name} has no site {site}. Its sites: {known}")
    return Site(site, folder, signed.private_key(key))


def who(store: Store, world: World, place: Place | None) -> str:
    """For the record: an identity of AWS, else a user of this machine. Raises ImageError without credentials."""
    if place is None:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    region = store.places[0]
    with told(region, CREDENTIALS):
        return str(clients_at(world, place, region)("sts").get_caller_identity()["Arn"])
