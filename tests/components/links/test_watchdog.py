"""The watchdog's hands: what it reads, asks and tells. Its rules are in test_failover.py."""

import struct
from pathlib import Path
from typing import Any

import pytest

from components.control_plane.units import SETTINGS
from components.links.gateway.files import files

from .bed import gateways

import watchdog  # isort: skip
from failover import NOTHING, Left, Memory  # isort: skip

# What FRR 8.4 says of two sessions.
SUMMARY = (
    '{"peers": {"169.254.23.17": {"state": "Established", "pfxRcd": 1}, "169.254.23.21": {"state": "Active"}, '
    '"192.0.2.99": {"state": "Established"}}}'
)


class Unplugged:
    def setsockopt(self, *_: Any) -> None:
        pass


@pytest.fixture
def gateway(tmp_path: Path) -> watchdog.Gateway:
    """As the rendered settings tell it; its first two tunnels are those to west."""
    (spec,) = gateways()
    addresses = {"us-west-2-1": "169.254.23.17", "us-west-2-2": "169.254.23.21"}
    (tmp_path / "gateway.json").write_text(files(spec)[f"{SETTINGS}/gateway.json"])
    told = watchdog.read(tmp_path / "gateway.json")
    tunnels = (one._replace(peer=addresses.get(one.name, one.peer)) for one in told.tunnels)
    return told._replace(tunnels=tuple(tunnels))


def unplugged(gateway: watchdog.Gateway) -> watchdog.Watch:
    """One that asks nobody: its socket would need root."""
    return watchdog.Watch(gateway, Unplugged())  # type: ignore[arg-type]


def test_it_reads_what_is_rendered(gateway: watchdog.Gateway) -> None:
    assert (gateway.asn, gateway.usual, gateway.drawing) == (65010, "OWN", "DRAWING")
    assert [one.name for one in gateway.tunnels][:2] == ["us-west-2-1", "us-west-2-2"]
    assert all(one.device.startswith("vpn") for one in gateway.tunnels)


def test_a_tunnel_that_is_left_is_shut_and_the_others_of_its_region_draw_its_traffic(gateway: watchdog.Gateway) -> None:
    lines = watchdog.commands(gateway, {"us-west-2-1": Left(30)}, {"us-west-2"})
    assert [line for line in lines if line.startswith("neighbor") and line.endswith("shutdown")] == [
        "neighbor 169.254.23.17 shutdown"
    ]
    assert [line for line in lines if "DRAWING" in line] == ["neighbor 169.254.23.21 prefix-list DRAWING out"]
    usual = watchdog.commands(gateway, {}, set())
    assert not [line for line in usual if "DRAWING" in line or (line.startswith("neighbor") and "shutdown" in line)]


def test_bgp_is_believed_by_its_own_word(gateway: watchdog.Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "vtysh", lambda *_: SUMMARY)
    assert watchdog.believed(gateway) == {"us-west-2-1"}
    monkeypatch.setattr(watchdog, "vtysh", lambda *_: "")
    assert watchdog.believed(gateway) == set()


def test_its_questions_are_sound_icmp() -> None:
    for number in (0, 1, 65_535, 65_536):
        total = sum(struct.unpack("!4H", watchdog.echo(number)))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        assert total == 0xFFFF


def test_whatever_comes_out_of_a_tunnel_is_a_sign_of_life(
    gateway: watchdog.Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "DEVICES", tmp_path)
    one = gateway.tunnels[0]
    counter = tmp_path / one.device / "statistics/rx_packets"
    counter.parent.mkdir(parents=True)
    watch = unplugged(gateway)
    heard = []
    for now, count in enumerate(("7", "7", "8", "8", "")):
        counter.write_text(count)
        watch.look(float(now))
        heard.append(watch.heard.get(one.name))
    assert heard == [None, None, 2.0, 2.0, 2.0]


def test_frr_is_told_once_of_each_change(gateway: watchdog.Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(watchdog, "vtysh", lambda *lines: told.append(lines) or "")
    watch = unplugged(gateway)
    for left, drawn in (({"us-west-2-1": Left(30)}, {"us-west-2"}), ({"us-west-2-1": Left(30, 5.0)}, {"us-west-2"})):
        watch.decide(Memory(left, {}), drawn)
    watch.decide(Memory({"us-west-2-1": Left(30)}, {}), set())
    watch.decide(NOTHING, set())
    expected = (({"us-west-2-1": 0}, {"us-west-2"}), ({"us-west-2-1": 0}, set()), ({}, set()))
    assert told == [tuple(watchdog.commands(gateway, left, drawn)) for left, drawn in expected]


def test_of_a_pair_frr_is_asked_in_calm_too_and_the_partner_hears_when_it_is_down(
    gateway: watchdog.Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[set[str]] = []

    class Partner:
        def exchange(self, reached: set[str], now: float) -> set[str]:
            said.append(reached)
            return {"us-west-2"}

    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(watchdog, "vtysh", lambda *lines: told.append(lines) or SUMMARY)
    monkeypatch.setattr(watchdog, "received", lambda _: None)
    watch = unplugged(gateway)
    watch.ask = lambda _: None  # type: ignore[method-assign]
    watch.partner = Partner()  # type: ignore[assignment]
    watch.heard = {one.name: 9.0 for one in gateway.tunnels}
    watch.poll_once(10.0)
    assert said == [{"us-west-2"}], "only there BGP speaks"
    assert told[-1] == tuple(watchdog.commands(gateway, {}, {"us-west-2"}))
    monkeypatch.setattr(watchdog, "believed", _down)
    with pytest.raises(OSError, match="no vtysh"):
        watch.poll_once(11.5)
    assert said[-1] == set()


def _down(_: watchdog.Gateway) -> set[str]:
    raise OSError("no vtysh")
