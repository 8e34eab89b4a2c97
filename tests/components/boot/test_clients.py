"""Addresses as ssh's clients and host certificates have them."""

from fnmatch import fnmatchcase
from ipaddress import IPv4Network

import pytest

from components.boot.clients import patterns


@pytest.mark.parametrize(
    ("cidr", "some"),
    [
        ("10.0.0.0/8", ["10.*"]),
        ("10.132.0.0/16", ["10.132.*"]),
        ("10.132.64.0/23", ["10.132.64.*", "10.132.65.*"]),
        ("192.0.2.8/30", ["192.0.2.8", "192.0.2.9", "192.0.2.10", "192.0.2.11"]),
    ],
)
def test_a_prefix_as_patterns(cidr: str, some: list[str]) -> None:
    assert patterns(cidr) == some


@pytest.mark.parametrize("cidr", ["10.132.64.0/19", "10.132.64.0/24", "10.132.64.192/27"])
def test_they_have_its_addresses_and_no_neighbour_s(cidr: str) -> None:
    network, found = IPv4Network(cidr), patterns(cidr)
    first, last = network[0], network[-1]
    for address, inside in ((first, True), (last, True), (first - 1, False), (last + 1, False)):
        assert any(fnmatchcase(str(address), one) for one in found) is inside, address
