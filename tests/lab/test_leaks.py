"""What a region must not tell is not believed, and however much it tells, no flow notices."""

import contextlib
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

import pytest

from components.links.gateway.spec import End

from . import frr, report
from .hub import FLOOD_CIDR, Hub
from .lab import Lab
from .machines import awaited

REGION = "us-west-2"
TOLD_SECONDS = 15.0


@contextlib.contextmanager
def telling(hub: Hub, *prefixes: str) -> Iterator[None]:
    hub.tell(*prefixes)
    try:
        yield
    finally:
        hub.tell(*prefixes, also=False)


def half(cidr: str) -> str:
    return str(next(IPv4Network(cidr).subnets()))


# What is told → the prefix.
LEAKS: dict[str, Callable[[Lab], str]] = {
    "a default route": lambda lab: "0.0.0.0/0",
    "the site's own block": lambda lab: lab.spec.block_cidr,
    "half of the site's block": lambda lab: half(lab.spec.block_cidr),
    "another region's block": lambda lab: lab.ends("us-east-1")[0].region_cidr,
    "half of the region's own block": lambda lab: half(lab.ends(REGION)[0].region_cidr),
    "a neighbour's prefix": lambda lab: "192.168.44.0/24",
}


def received(lab: Lab, end: End) -> dict[str, object]:
    """What one tunnel tells, believed or not: FRR keeps what it refuses."""
    told = frr.told(lab.gateway.machine, f"show bgp ipv4 unicast neighbors {end.there} received-routes json")
    return dict(told.get("receivedRoutes", {}))


def heard(lab: Lab, prefix: str) -> bool:
    return all(prefix in received(lab, end) for end in lab.ends(REGION))


def believed(lab: Lab, prefix: str) -> bool:
    lines = [f"show bgp ipv4 unicast neighbors {end.there} routes json" for end in lab.ends(REGION)]
    return any(prefix in frr.told(lab.gateway.machine, line).get("routes", {}) for line in lines)


def open_wide(lab: Lab, *, on: bool) -> None:
    """Has the region's list permit everything, or no more. (Without a list FRR believes nothing: RFC 8212.)"""
    line = f"{'' if on else 'no '}ip prefix-list {REGION} seq 99 permit 0.0.0.0/0 le 32"
    again = [f"clear bgp ipv4 unicast {end.there} soft in" for end in lab.ends(REGION)]
    frr.vtysh(lab.gateway.machine, "configure terminal", line, "end", *again)


@pytest.mark.parametrize("what", LEAKS)
def test_a_region_is_believed_its_own_block_alone(lab: Lab, what: str) -> None:
    prefix = LEAKS[what](lab)
    with telling(lab.hubs[REGION], prefix):
        awaited(f"{prefix} is told", lambda: heard(lab, prefix), TOLD_SECONDS)
        assert not believed(lab, prefix)
        assert frr.routes(lab.gateway.machine)[lab.ends(REGION)[0].region_cidr] == {e.there for e in lab.ends(REGION)}
        assert len(lab.gateway.established()) == len(lab.spec.ends)
        # Refused by the list and by nothing else.
        open_wide(lab, on=True)
        try:
            awaited("it is believed with a list that permits all", lambda: believed(lab, prefix), TOLD_SECONDS)
        finally:
            open_wide(lab, on=False)
        awaited("it is refused again", lambda: not believed(lab, prefix), TOLD_SECONDS)


def flood(count: int) -> list[str]:
    return [str(one) for one, _ in zip(IPv4Network(FLOOD_CIDR).subnets(new_prefix=24), range(count), strict=False)]


def test_two_thousand_prefixes_are_refused_and_disturb_no_flow(lab: Lab) -> None:
    told, (first, second) = flood(2000), lab.ends(REGION)
    with lab.asking(REGION) as flows, telling(lab.hubs[REGION], *told):
        awaited("the last one is told", lambda: told[-1] in received(lab, first), TOLD_SECONDS)
        assert frr.routes(lab.gateway.machine)[first.region_cidr] == {first.there, second.there}
        assert not frr.routes(lab.gateway.machine).keys() & {*told}
    report.note("2,000 prefixes told by one tunnel: flows meanwhile", flows, "5 s")
    assert flows.gap_seconds < 5
