"""What a fleet needs of quotas: each machine in every quota that its cloud counts it in, and addresses as networks have."""

from pathlib import Path

import pytest

from components.network.azure.hub import INSTANCES
from fleet.loader import load
from fleet.model import Fleet
from landbridge.quotas.needs import HUB_ADDRESSES, needs

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def example() -> Fleet:
    return load(ROOT / "fleet.yaml")


def sums(fleet: Fleet) -> dict[tuple[str, str], tuple[int, int]]:
    return {(one.region, one.place[-1]): (sum(one.now.values()), sum(one.most.values())) for one in needs(fleet)[0]}


def with_pool(fleet: Fleet, name: str, **changed: object) -> Fleet:
    return fleet.model_copy(update={"pools": {**fleet.pools, name: fleet.pools[name].model_copy(update=changed)}})


def test_spares_and_spot_machines_count_where_they_stand(example: Fleet) -> None:
    spot = sums(with_pool(example, "west-gpu", spot=True, spares=2))
    assert (spot["us-west-2", "p_spot"], ("us-west-2", "p") in spot) == ((2 * 192, 40 * 192), False)
    south = sums(with_pool(example, "south-gpu", spot=True))
    assert (south["southcentralus", "spot"], ("southcentralus", "cores") in south) == ((0, 9_600), False)


def test_networks_have_addresses(example: Fleet) -> None:
    west = example.regions["us-west-2"].model_copy(update={"nat": "per-zone"})
    found = sums(example.model_copy(update={"regions": {**example.regions, "us-west-2": west}}))
    assert found["us-west-2", "addresses"] == (5, 5), "a zone's NAT gateway each, and two servers for laptops"
    assert (found["us-east-1", "addresses"], found["southcentralus", "addresses"]) == ((1, 1), (3, 3))
    assert HUB_ADDRESSES["azure"] == len(INSTANCES)


def test_what_counts_in_a_quota_that_nobody_knows_is_named(example: Fleet) -> None:
    found, uncounted = needs(with_pool(example, "west-gpu", instance_type="trn1.32xlarge"))
    assert [(one.what, one.instance_type) for one in uncounted] == [("west-gpu", "trn1.32xlarge")]
    assert ("us-west-2", ("p",)) not in {(one.region, one.place) for one in found}
