"""What a site's hosts can resolve on the local cloud: what a network knows that they can ask, and no more."""

from typing import Any

from local.keeper import names

WEST, EAST = "vpc-1", "vpc-2"


def world(*resolvers: str) -> dict[str, Any]:
    record = ["api.west.example.com", None, ["10.0.0.5"]]
    zone = {"name": "west.example.com", "vpcs": [WEST, EAST], "records": [record]}
    return {
        "zones": [zone],
        "balancers": [],
        "regions": [],
        "buckets": [],
        "networks": [],
        "resolvers": list(resolvers),
    }


def test_without_an_endpoint_that_answers_a_site_knows_no_name() -> None:
    assert "api.west.example.com" not in names.of_sites(world())
    assert "api.west.example.com" not in names.of_sites(world("vpc-3"))
    assert "api.west.example.com" in names.of_network(world(), WEST)
    assert "api.west.example.com" in names.of_cloud(world())


def test_one_of_any_network_that_knows_the_zone_is_enough() -> None:
    for one in (WEST, EAST):
        assert "10.0.0.5 api.west.example.com" in names.of_sites(world(one))
