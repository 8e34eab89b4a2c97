"""What a site's hosts can resolve on the local cloud: what a network knows that they can ask, and no more."""

from typing import Any

from local.supervisor import names

WEST, EAST, SOUTH = "vpc-1", "vpc-2", "azure-3"


def world(*resolvers: str, **more: Any) -> dict[str, Any]:
    """`resolvers` are networks that answer, each at 10.9.9. and its last letter."""
    west = ["api.west.example.com", None, ["10.0.0.5"]]
    south = ["api.south.example.com", None, ["10.3.0.5"]]
    zones = [
        {"name": "west.example.com", "vpcs": [WEST, EAST], "records": [west]},
        {"name": "south.example.com", "vpcs": [SOUTH], "records": [south]},
    ]
    empty = {name: [] for name in ("balancers", "regions", "buckets", "networks", "names", "forwards")}
    answering = [[network, [f"10.9.9.{network[-1]}"]] for network in resolvers]
    return {**empty, "zones": zones, "resolvers": answering, **more}


def asking(network: str, domain: str, target: str) -> list[dict[str, Any]]:
    return [{"vpcs": [network], "domain": domain, "targets": [target]}]


def test_without_an_endpoint_that_answers_a_site_knows_no_name() -> None:
    assert "api.west.example.com" not in names.of_sites(world())
    assert "api.west.example.com" not in names.of_sites(world("vpc-3"))
    assert "api.west.example.com" in names.of_network(world(), WEST)
    assert "api.west.example.com" in names.of_cloud(world())


def test_the_local_cloud_itself_finds_buckets_where_issuers_documents_are() -> None:
    told = {**world(), "regions": ["us-west-2"], "buckets": [["issuer", "us-west-2"]]}
    assert "169.254.169.254 issuer.s3.us-west-2.amazonaws.com\n" in names.of_cloud(told)
    assert "sts.us-west-2" not in names.of_cloud(told), "programs reach AWS by an address of their own"


def test_one_of_any_network_that_knows_the_zone_is_enough() -> None:
    for one in (WEST, EAST):
        assert "10.0.0.5 api.west.example.com" in names.of_sites(world(one))


def test_a_network_asks_another_cloud_s_where_that_answers_for_what_its_rule_says() -> None:
    rule = asking(WEST, "south.example.com", "10.9.9.3")
    asked = world(SOUTH, forwards=rule)
    assert "10.3.0.5 api.south.example.com" in names.of_network(asked, WEST)
    assert "api.south.example.com" not in names.of_network(asked, EAST), "which has no rule"
    assert "api.south.example.com" not in names.of_network(world(forwards=rule), WEST), "nobody answers there"
    other = asking(WEST, "north.example.com", "10.9.9.3")
    assert "api.south.example.com" not in names.of_network(world(SOUTH, forwards=other), WEST)
    near = asking(WEST, "outh.example.com", "10.9.9.3")
    assert "api.south.example.com" not in names.of_network(world(SOUTH, forwards=near), WEST)


def test_a_site_is_told_what_the_region_that_it_asks_asks_itself() -> None:
    asked = world(EAST, SOUTH, forwards=asking(EAST, "south.example.com", "10.9.9.3"))
    assert "api.south.example.com" in names.of_sites(asked)
    assert "api.south.example.com" not in names.of_sites(world(EAST))
