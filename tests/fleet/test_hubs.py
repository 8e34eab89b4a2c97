"""BGP numbers of the regions' hub gateways."""

from boto3.session import Session

from fleet import hubs


def test_every_region_of_aws_has_a_number_of_its_own_that_no_site_may_use() -> None:
    numbers = [hubs.asn(region) for region in hubs.REGIONS]
    assert len(set(numbers)) == len(numbers)
    assert all(64512 <= number <= 64767 for number in numbers)
    assert set(Session().get_available_regions("ec2")) <= set(hubs.REGIONS)


def test_a_number_never_changes() -> None:
    assert (hubs.asn("us-east-1"), hubs.asn("af-south-1"), hubs.asn("ap-southeast-6")) == (64512, 64544, 64545)
