"""What is too large for a tunnel: refused by one byte, and no flow stands still where nobody says so."""

import contextlib
from collections.abc import Iterator

import pytest

from components.links.gateway import firewall
from components.links.tunnel_settings import MTU

from . import report, traffic
from .lab import Lab
from .machines import Machine

REGION = "us-west-2"
# Of IPv4 and ICMP.
HEADS = 28
SIZE, SECONDS = 2_000_000, 20.0
BLACK_HOLE = (
    "table ip hole { chain input { type filter hook input priority 0; icmp type destination-unreachable drop; }; }"
)
CLAMP = r"^.*maxseg size set.*\n"


@pytest.fixture
def ends(lab: Lab) -> tuple[str, str]:
    return lab.addresses(lab.lan)[0], lab.addresses(lab.networks[REGION])[0]


def test_the_largest_packet_passes_and_a_byte_more_is_refused(lab: Lab, ends: tuple[str, str]) -> None:
    assert traffic.pings(lab.host, *ends, size=MTU - HEADS)
    assert not traffic.pings(lab.host, *ends, size=MTU - HEADS + 1)
    report.note("largest packet through a tunnel", f"{MTU} bytes", f"{MTU} bytes")


@contextlib.contextmanager
def deaf(*machines: Machine) -> Iterator[None]:
    """Nobody there hears that a packet was too large, and nobody remembers it."""
    for machine in machines:
        machine.nft(BLACK_HOLE)
        machine.ip("route flush cache")
    try:
        yield
    finally:
        for machine in machines:
            machine.nft("delete table ip hole")


@pytest.mark.parametrize("what", ["send", "fetch"])
def test_a_flow_passes_where_nobody_hears_what_is_too_large(lab: Lab, ends: tuple[str, str], what: str) -> None:
    gateway = lab.gateway
    with deaf(lab.host, lab.hubs[REGION].host):
        assert traffic.moved(lab.host, what, *ends, SIZE, SECONDS)
        # By the clamp of segments and by nothing else.
        gateway.machine.nft(gateway.change(firewall.CONFIG, CLAMP, ""))
        try:
            assert not traffic.moved(lab.host, what, *ends, SIZE, 8.0)
        finally:
            gateway.machine.run("nft", "-f", firewall.CONFIG)
