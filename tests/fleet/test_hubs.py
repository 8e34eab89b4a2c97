"""BGP numbers of the regions' hub gateways."""

from itertools import pairwise

import pytest
from boto3.session import Session

from fleet import hubs
from fleet.model import Cloud


def test_every_region_has_a_number_of_its_own_that_no_site_may_use() -> None:
    numbers = [hubs.asn(region) for regions in hubs.REGIONS.values() for region in regions]
    assert len(set(numbers)) == len(numbers)
    assert all(number in hubs.RESERVED_ASNS and 64512 <= number <= 64767 for number in numbers)
    assert set(Session().get_available_regions("ec2")) <= set(hubs.REGIONS["aws"])


def test_no_cloud_s_regions_reach_into_another_s_numbers() -> None:
    starts = sorted((first, cloud) for cloud, first in hubs.FIRST.items())
    for (first, cloud), (after, _) in pairwise([*starts, (hubs.RESERVED_ASNS.stop, None)]):
        assert first + len(hubs.REGIONS[cloud]) <= after


@pytest.mark.parametrize(
    ("cloud", "numbers"),
    [
        ("aws", {"us-east-1": 64512, "us-west-2": 64515, "af-south-1": 64544, "ap-southeast-6": 64545}),
        ("azure", {"southcentralus": 64640, "westeurope": 64651, "southafricanorth": 64677}),
    ],
)
def test_a_number_never_changes(cloud: Cloud, numbers: dict[str, int]) -> None:
    assert {region: hubs.asn(region) for region in numbers} == numbers
    assert set(numbers) <= set(hubs.REGIONS[cloud])
