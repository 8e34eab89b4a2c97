"""A stack of each kind, in each cloud, destroyed alone and built again: all is Ready, and nothing of the old is left."""

from collections.abc import Iterator

import pytest

from tests.support import saved
from tests.support.cloud import Cloud

from .matrix import Stands, destroy, is_as, stands, up
from .worlds import WORLDS

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(2400)]
# World → what is destroyed: with it goes what stands on it, as `destroy` asks for.
ALONE = {
    "at-rest": {
        "add-ons": ["main-addons"],
        "a pool of hosts": ["site-gpu"],
        "a pool": ["system"],
        "laptops": ["us-west-2-laptops"],
        "links": ["links"],
        "a region": ["east-gpu", "links", "us-east-1", "main-addons"],
        "a cluster": ["main-addons", "us-west-2-laptops", "site-gpu", "west-gpu", "east-gpu", "cpu", "system", "main"],
        "the fleet": [],
    },
    "in-both": {
        "add-ons": ["main-addons"],
        "a pool": ["main-addons", "south-gpu"],
        "a pool for people": ["desk"],
        "laptops": ["southcentralus-laptops"],
        "links": ["links"],
        "a region": ["south-gpu", "south-cpu", "far-gpu", "desk", "southcentralus-laptops", "links", "main-addons",
                     "southcentralus"],
        "the fleet": [],
    },
    "in-azure": {"a cluster": ["main"], "a region for copies": ["main", "links", "westus3"], "the fleet": []},
}  # fmt: skip


@pytest.fixture(scope="module", params=ALONE)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Cloud, Stands]]:
    """Its name, the cloud it is in, and what stands in it at first: one world after the other."""
    with saved.opened(tmp_path_factory, request.param, *WORLDS[request.param]) as cloud:
        yield request.param, cloud, stands(cloud)


# What one life leaves may only stand in the way of the one after the next.
TIMES = {"the fleet": 3}
ROWS = [(name, what) for name, rows in ALONE.items() for what in rows]


@pytest.mark.parametrize(("world", "what"), ROWS, indirect=["world"])
def test_it_is_destroyed_alone_and_built_again(world: tuple[str, Cloud, Stands], what: str) -> None:
    name, cloud, first = world
    for _ in range(TIMES.get(what, 1)):
        destroy(cloud, *ALONE[name][what])
        up(cloud)
        is_as(cloud, first)
