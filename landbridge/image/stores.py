"""Where a fleet's images are published to: its regions in the clouds, or a folder of one of its sites."""

import getpass
import socket
from collections.abc import Sequence
from pathlib import Path

from botocore.config import Config

from fleet.world import World
from images.running import cache_folder
from images.stores.aws.calls import CREDENTIALS, clear_errors
from images.stores.aws.store import Aws
from images.stores.blocks import WORKERS
from images.stores.clouds import Clouds
from images.stores.publishing import Waits
from images.stores.site import index as site_index
from images.stores.site.store import Site
from images.stores.store import Store
from landbridge.cluster.session import clients_at
from landbridge.errors import UsageError
from landbridge.places import Place

# A copy is asked after every half a minute for four hours; the local cloud's takes less than a second.
LOCAL = Waits(0.2, 600)
PATIENT = Config(retries={"mode": "standard", "total_max_attempts": 10}, max_pool_connections=2 * WORKERS)


def regions(world: World, named: Sequence[str]) -> list[str]:
    """Those that are meant, in the order of the fleet file. Raises UsageError for one that is not there."""
    known = list(world.fleet.regions)
    for name in named:
        if name not in known:
            raise UsageError(f"{world.path.name} has no region {name}. Name one of: {', '.join(known)}")
    return [name for name in known if not named or name in named]


def in_regions(world: World, place: Place, named: Sequence[str]) -> Clouds:
    """Raises ImageError where there are no credentials."""
    chosen, journals = regions(world, named), cache_folder("publishing") / world.fleet.fleet
    of = {cloud: [name for name in chosen if world.fleet.regions[name].cloud == cloud] for cloud in ("aws", "azure")}
    waits, stores = LOCAL if place.world == "local" else Waits(), list[Store]()
    if of["aws"]:
        at = (lambda region: clients_at(world, place, region, PATIENT), journals, waits)
        stores.append(Aws(world.fleet.fleet, of["aws"], *at))
    if of["azure"]:
        from landbridge.clouds.azure import gallery as azure_gallery

        stores.append(azure_gallery.store(world.fleet, of["azure"], journals, waits))
    return Clouds(stores, chosen)


def at_site(world: World, site: str, folder: Path, key: Path) -> Site:
    if site not in world.fleet.sites:
        known = ", ".join(world.fleet.sites) or "none"
        raise UsageError(f"{world.path.name} has no site {site}. Its sites: {known}")
    return Site(site, folder, site_index.private_key(key))


def who(store: Store, world: World, place: Place | None) -> str:
    """For the record: an identity of the cloud, else a user of this machine. Raises ImageError without credentials."""
    if place is None:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    inside = [name for name in store.places if world.fleet.regions[name].cloud == "aws"]
    if not inside:
        from landbridge.clouds.azure import gallery as azure_gallery

        return azure_gallery.who(store.places[0])
    with clear_errors(inside[0], CREDENTIALS):
        return str(clients_at(world, place, inside[0])("sts").get_caller_identity()["Arn"])
