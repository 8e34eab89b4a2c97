"""Laptops by the rendered server and profiles: what they reach, what they do not, and that a revoked one is gone."""

import time
from collections.abc import Iterator

import pytest

from fleet.world import current

from . import report
from .laptops import ELSEWHERE, POD_MTU, PUBLIC, ROOT, TUNNEL, Laptop, Region
from .machines import awaited

UP_SECONDS, GONE_SECONDS, REFUSED_SECONDS = 30.0, 60.0, 30.0


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory, possible: None) -> Iterator[Region]:
    made = Region(tmp_path_factory.mktemp("laptops"))
    made.begin()
    yield made
    made.close()


@pytest.fixture(scope="module")
def both(region: Region) -> Region:
    """With both laptops connected."""
    begun = time.monotonic()
    for laptop in region.laptops.values():
        laptop.connect()
    for laptop in region.laptops.values():
        awaited(f"{laptop.person}'s tunnel", lambda one=laptop: one.pings(region.host_address), UP_SECONDS)
    report.note("two laptops connect and reach a host", f"{time.monotonic() - begun:.1f} s", f"{UP_SECONDS:g} s")
    return region


@pytest.fixture
def alice(both: Region) -> Laptop:
    return both.laptops["alice"]


@pytest.fixture
def bob(both: Region) -> Laptop:
    return both.laptops["bob"]


def test_a_laptop_gets_an_address_of_the_server_s_pool_and_the_plan_s_routes(both: Region, alice: Laptop) -> None:
    plan = current(ROOT / "fleet.yaml").plan
    wanted = {cidr for name, cidr in plan.aggregates().items() if not name.startswith("cluster/")}
    wanted |= {plan.cluster("main").pods, plan.cluster("main").services}
    assert alice.routes() == {*wanted, str(both.pool)}
    assert PUBLIC not in alice.machine.run("ip", "route"), "no route for the server's own sake: nothing else goes by it"
    assert "default via 192.0.2.1" in alice.machine.run("ip", "route", "show", "default")
    assert "AES-256-GCM" in alice.log()
    assert "TLSv1.3" in alice.log()


def test_a_host_of_the_region_sees_the_laptop_s_own_address(both: Region, alice: Laptop) -> None:
    assert alice.ask("tcp", both.host_address) == alice.address


def test_the_largest_packet_of_a_tunnel_passes_and_one_more_byte_does_not(both: Region, alice: Laptop) -> None:
    heads = 28
    assert alice.pings(both.host_address, "-Mdo", f"-s{1400 - heads}")
    assert not alice.pings(both.host_address, "-Mdo", f"-s{1401 - heads}")


def test_a_pod_s_page_comes_to_a_laptop_through_the_overlay(both: Region, alice: Laptop) -> None:
    """Of AWS's network neither the laptop's address nor the pod's is seen on the node's side: it would drop them."""
    before = both.dropped()
    assert alice.page(both.pod_address) == [str(both.own_pods[0]), "1000000"]
    assert alice.page(both.service_address) == [str(both.own_pods[0]), "1000000"]
    assert both.dropped() == before
    assert not alice.pings(both.pod_address, "-Mdo", f"-s{POD_MTU + 1 - 28}"), "larger than a pod's packets are"
    assert alice.pings(both.pod_address, "-Mdo", f"-s{POD_MTU - 28}")
    with both.without_walls():
        assert alice.page(both.pod_address) == [], "its answer leaves the node with the pod's own address"
        assert both.dropped() > before


def test_the_network_s_resolver_is_asked_by_the_server(both: Region, alice: Laptop) -> None:
    assert alice.ask("udp", both.spec.resolver) == f"answered to {both.inside}"
    with both.without_walls():
        assert alice.ask("udp", both.spec.resolver) == "", "it answers nobody from outside of the network"


def test_what_is_not_pushed_is_refused(both: Region, alice: Laptop) -> None:
    assert not alice.pings(ELSEWHERE)
    alice.machine.ip(f"route add 10.200.0.0/24 dev {TUNNEL}")
    assert not alice.pings(ELSEWHERE)
    assert alice.ask("tcp", ELSEWHERE) == ""
    with both.without_walls():
        assert alice.ask("tcp", ELSEWHERE) == alice.address, "the server's firewall is what refuses"


def test_nobody_reaches_a_laptop(both: Region, alice: Laptop, bob: Laptop) -> None:
    assert not alice.pings(bob.address)
    assert both.host.attempt("ping", "-c1", "-W1", alice.address).returncode != 0
    with both.without_walls():
        assert alice.pings(bob.address)
        assert both.host.attempt("ping", "-c1", "-W1", alice.address).returncode == 0


def test_without_a_profile_s_key_the_server_does_not_answer_at_all(both: Region) -> None:
    """To whoever has no wrapped key the port looks closed: a handshake is not even begun."""
    ask = "import socket; s = socket.socket(2, 2); s.settimeout(3); s.sendto(bytes([7 << 3]) + bytes(13), ('198.51.100.7', 1194)); s.recv(99)"
    assert both.machines[0].attempt("python3", "-c", ask).returncode != 0


def test_a_revoked_certificate_is_sent_away_within_a_minute_and_not_let_in_again(
    both: Region, alice: Laptop, bob: Laptop
) -> None:
    assert alice.pings(both.host_address)
    both.publish([alice.certificate])
    gone = awaited("alice is gone", lambda: not alice.pings(both.host_address), GONE_SECONDS)
    report.note("a revoked laptop is sent away", f"{gone:.1f} s", f"{GONE_SECONDS:g} s")
    assert bob.pings(both.host_address), "it is nobody else's matter"
    alice.disconnect()
    before = len(both.machine.log.read_text())
    alice.connect()
    awaited(
        "the server refuses", lambda: "certificate revoked" in both.machine.log.read_text()[before:], REFUSED_SECONDS
    )
    assert not alice.address
    assert not alice.pings(both.host_address)
    assert bob.pings(both.host_address)
