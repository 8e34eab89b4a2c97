"""A site with two gateways: the LAN's hosts have one next hop, and it outlives either of them."""

import contextlib
import time
from collections.abc import Iterator

import pytest

from tests.components.links.bed import PAIR, planned

from . import report, traffic
from .gateway import Gateway
from .lab import Lab
from .machines import awaited

REGION = "us-west-2"
# BGP alone takes 24 s and more.
DOG_SECONDS, BOOT_SECONDS, SETTLE_SECONDS = 12.0, 60.0, 100.0


class Pair:
    """The lab with all that runs on its two gateways."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        for gateway in lab.gateways:
            self.attend(gateway)

    def attend(self, gateway: Gateway) -> None:
        gateway.watchdog().start()
        gateway.keepalived()

    def leader(self) -> int:
        """Which of the two has the LAN's next hop; -1 while it is none's or both's."""
        who = [
            number for number, one in enumerate(self.lab.gateways) if one.machine in self.lab.machines and one.leads()
        ]
        return who[0] if len(who) == 1 else -1

    def carries(self, number: int) -> str:
        return self.lab.gateways[number].machine.read("/run/landbridge/carries").strip()

    def settled(self) -> bool:
        return self.lab.settled() and self.leader() >= 0 and self.carries(0) == self.carries(1) == "1"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, possible: None) -> Iterator[Pair]:
    lab = Lab(tmp_path_factory.mktemp("pair"), *planned(attic=PAIR), "attic", [REGION])
    lab.begin()
    try:
        yield Pair(lab)
    finally:
        lab.close()


@pytest.fixture
def pair(whole: Pair) -> Pair:
    """All four tunnels carry, and what an earlier test had a gateway draw is over."""
    awaited("the pair settles", whole.settled, SETTLE_SECONDS, 0.5)
    return whole


def test_one_of_the_two_has_the_next_hop(pair: Pair) -> None:
    assert len(pair.lab.gateways[0].established()) == len(pair.lab.gateways[1].established()) == 2
    with pair.lab.asking(REGION) as flows:
        time.sleep(2)
    assert (flows.sent > 0, flows.lost) == (True, 0)
    report.note("flows by a pair of gateways", flows)


# As a firewall that remembers flows would do.
STATEFUL = "table ip remembers { chain forward { type filter hook forward priority 10; ct state invalid drop; }; }"


@contextlib.contextmanager
def forced(pair: Pair, back: int, addresses: list[str]) -> Iterator[None]:
    """The hub answers these hosts of the site through one gateway's tunnel."""
    lab, device = pair.lab, f"tun{pair.lab.ends(REGION, back)[0].tunnel.number}"
    hub = lab.hubs[REGION].machine
    hub.ip(*(f"route add {address}/32 dev {device}" for address in addresses))
    try:
        yield
    finally:
        hub.ip(*(f"route del {address}/32 dev {device}" for address in addresses))


def test_a_flow_goes_out_by_one_gateway_and_back_by_the_other(pair: Pair) -> None:
    lab = pair.lab
    here, there = lab.addresses(lab.lan), lab.addresses(lab.networks[REGION])
    out = pair.leader()
    back = 1 - out
    ways = [lab.gateways[number].machine for number in (out, back)]
    with forced(pair, back, here):
        with (
            traffic.Witness(ways[0], f"ip saddr {here[0]} udp dport 7007") as leaving,
            traffic.Witness(ways[1], f"ip daddr {here[0]} udp sport 7007") as returning,
        ):
            with lab.asking(REGION) as flows:
                time.sleep(1)
            assert (flows.lost, leaving.packets() > 0, returning.packets() > 0) == (0, True, True)
        assert traffic.moved(lab.host, "fetch", here[0], there[0], 2_000_000, 20.0)
        # Which proves something: with a state it would not.
        ways[1].nft(STATEFUL)
        try:
            assert not traffic.moved(lab.host, "fetch", here[0], there[0], 2_000_000, 5.0)
        finally:
            ways[1].nft("delete table ip remembers")


def test_a_gateway_whose_tunnels_are_all_silent_gives_the_next_hop_away_and_does_not_take_it_back(pair: Pair) -> None:
    lab, first = pair.lab, pair.leader()
    with lab.asking(REGION) as flows, lab.silent(*lab.ends(REGION, first)):
        awaited("the other one leads", lambda: pair.leader() == 1 - first, DOG_SECONDS)
        time.sleep(5)
    report.note("all tunnels of a pair's one gateway are silent", flows, f"{DOG_SECONDS:g} s")
    assert flows.gap_seconds < DOG_SECONDS
    with lab.asking(REGION) as back:
        awaited("it carries again", lambda: pair.carries(first) == "1", BOOT_SECONDS, 0.5)
        time.sleep(5)
    report.note("they answer again", back, f"{DOG_SECONDS:g} s")
    assert back.gap_seconds < DOG_SECONDS
    assert pair.leader() == 1 - first


def test_the_second_gateway_takes_over_and_the_first_one_back(pair: Pair) -> None:
    first = pair.leader()
    with pair.lab.asking(REGION) as flows:
        ends(pair, first)
    report.note("a pair's leading gateway ends", flows, f"{DOG_SECONDS:g} s")
    assert flows.gap_seconds < DOG_SECONDS
    with pair.lab.asking(REGION) as back:
        pair.attend(pair.lab.power_on(first))
        awaited("it carries again", lambda: pair.carries(first) == "1", BOOT_SECONDS, 0.5)
        time.sleep(3)
    report.note("it boots, and carries again", back, f"{DOG_SECONDS:g} s")
    assert back.gap_seconds < DOG_SECONDS
    assert pair.leader() == 1 - first, "who is back takes nothing away"
    awaited("the pair settles", pair.settled, SETTLE_SECONDS, 0.5)
    with pair.lab.asking(REGION) as flows:
        ends(pair, 1 - first)
    report.note("then the other one ends", flows, f"{DOG_SECONDS:g} s")
    assert flows.gap_seconds < DOG_SECONDS


def ends(pair: Pair, number: int) -> None:
    """Without a word, while the region answers by both; the other one leads then."""
    time.sleep(1)
    pair.lab.power_off(number)
    time.sleep(DOG_SECONDS + 1)
    assert pair.leader() == 1 - number
