"""A tunnel that dies, in each of its ways: how long flows stand still, with the watchdog and without."""

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from . import frr, report, traffic
from .gateway import DAEMONS, Watchdog
from .lab import Lab
from .machines import awaited

REGION = "us-west-2"
# Hold timers are 30 s; noise of the machine comes on top.
DOG_SECONDS, BGP_SECONDS = 5.0, 45.0
# `failover`: a tunnel has to answer for 30 s before it is taken again.
AGAIN_SECONDS = 60.0


@contextlib.contextmanager
def watched(lab: Lab) -> Iterator[Watchdog]:
    """It has heard of every tunnel by then."""
    with lab.gateway.watchdog() as dog:
        time.sleep(3)
        yield dog


def quickly(attempt: Callable[[], traffic.Result]) -> traffic.Result:
    """The first of three that is within seconds: the machine has other work, too, and may stop for a while."""
    for _ in range(3):
        if (result := attempt()).gap_seconds < DOG_SECONDS:
            break
    return result


def silence(lab: Lab) -> traffic.Result:
    """Flows while one tunnel's path swallows everything; all is as before at its beginning."""
    lab.settle()
    with lab.asking(REGION) as flows, lab.silent(lab.ends(REGION)[0]):
        time.sleep(12)
        assert "Admin" in frr.sessions(lab.gateway.machine)[lab.ends(REGION)[0].there]
    return flows


def taken_again(lab: Lab) -> bool:
    return lab.settled() and not [s for s in frr.sessions(lab.gateway.machine).values() if "Admin" in s]


def test_a_silent_tunnel_is_left_within_seconds_and_taken_again_without_loss(lab: Lab) -> None:
    with watched(lab) as dog:
        away = quickly(lambda: silence(lab))
        with lab.asking(REGION) as back:
            took = awaited("the tunnel is taken again", lambda: taken_again(lab), AGAIN_SECONDS, 1.0)
            time.sleep(3)
        assert dog.runs()
    report.note("silent tunnel, with the watchdog", away, f"{DOG_SECONDS:g} s")
    report.note("taken again after, and flows meanwhile", f"{took:.0f} s, {back}", f"{DOG_SECONDS:g} s")
    assert away.gap_seconds < DOG_SECONDS
    assert back.gap_seconds < DOG_SECONDS
    assert "taken again" in dog.log.read_text() or "taken again" in lab.gateway.machine.log.read_text()


def test_a_silent_tunnel_without_the_watchdog(lab: Lab) -> None:
    with lab.asking(REGION) as flows, lab.silent(lab.ends(REGION)[0]):
        time.sleep(BGP_SECONDS)
    report.note("silent tunnel, without the watchdog", flows, f"{BGP_SECONDS:g} s")
    assert DOG_SECONDS < flows.gap_seconds < BGP_SECONDS, "or the watchdog has nothing to do"


def test_the_last_path_is_never_left(lab: Lab) -> None:
    with watched(lab), lab.silent(*lab.ends(REGION)):
        time.sleep(6)
        assert not [state for state in frr.sessions(lab.gateway.machine).values() if "Admin" in state]


def test_an_end_that_closes_a_tunnel_loses_next_to_nothing(lab: Lab) -> None:
    first = lab.ends(REGION)[0]

    def closed() -> traffic.Result:
        lab.settle()
        with lab.asking(REGION) as flows:
            time.sleep(1)
            lab.endpoint(first).charon.swanctl("--terminate", "--ike", first.name)
            time.sleep(6)
        return flows

    with watched(lab):
        flows = quickly(closed)
    report.note("the region's end closes a tunnel", flows, f"{DOG_SECONDS:g} s")
    assert flows.gap_seconds < DOG_SECONDS


def test_the_gateway_s_own_daemon_is_killed(lab: Lab) -> None:
    first, charon = lab.ends(REGION)[0], lab.gateway.charons[lab.ends(REGION)[0].name]
    with watched(lab), lab.asking(REGION) as flows:
        time.sleep(1)
        lab.gateway.machine.kill([charon.pid()])
        time.sleep(BGP_SECONDS)
    report.note("the gateway's charon is killed", flows, f"{BGP_SECONDS:g} s")
    # Here the interface goes with charon, and FRR has no more to do with one that comes back; XFRM's stay.
    lab.gateway.restart(first)
    frr.stop(lab.gateway.machine)
    frr.start(lab.gateway.machine, *DAEMONS)
    awaited("the tunnel is back", lab.settled, 60)
    assert flows.gap_seconds < BGP_SECONDS


def test_new_keys_under_traffic_lose_no_packet(lab: Lab) -> None:
    with lab.asking(REGION) as flows:
        for _ in range(2):
            for end in lab.ends(REGION):
                charon = lab.gateway.charons[end.name]
                charon.swanctl("--rekey", "--child", end.name)
                time.sleep(0.5)
                charon.swanctl("--rekey", "--ike", end.name)
                time.sleep(0.5)
    report.note("keys of both phases made anew, four times", flows, "1 in 100")
    # One in a hundred may be the machine's own: flows that stand still lose more.
    assert flows.lost <= flows.sent / 100


def test_the_watchdog_waits_for_frr(lab: Lab) -> None:
    """At boot either may be first."""
    machine = lab.gateway.machine
    frr.stop(machine)
    with lab.gateway.watchdog() as dog:
        time.sleep(3)
        assert dog.runs()
        frr.start(machine, *DAEMONS)
        awaited("all sessions", lab.settled, 60, 0.5)
        time.sleep(2)
        flows = quickly(lambda: silence(lab))
    report.note("silent tunnel, the watchdog before FRR", flows, f"{DOG_SECONDS:g} s")
    assert flows.gap_seconds < DOG_SECONDS
    frr.vtysh(machine, *_unshut(lab))


@pytest.fixture(autouse=True)
def unshut(lab: Lab) -> Iterator[None]:
    """A watchdog that is ended leaves FRR as it is; its next start tells FRR all anew."""
    yield
    frr.vtysh(lab.gateway.machine, *_unshut(lab))


def _unshut(lab: Lab) -> list[str]:
    lines = ["configure terminal", f"router bgp {lab.spec.asn}"]
    lines += [f"no neighbor {end.there} shutdown" for end in lab.spec.ends]
    lines.append("address-family ipv4 unicast")
    return [*lines, *(f"neighbor {end.there} prefix-list OWN out" for end in lab.spec.ends), "end"]
