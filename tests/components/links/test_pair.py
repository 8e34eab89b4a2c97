"""A pair of gateways: what is rendered for it, what one hears of the other, and whose the LAN's next hop is."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.control_plane.units import SETTINGS, UNITS
from components.links.gateway import firewall, pair
from components.links.gateway.files import files
from components.links.gateway.spec import GatewaySpec
from components.links.tunnel_settings import HOLD_SECONDS
from fleet import pairs
from tests.support import golden

from .bed import PAIR, gateways

import failover  # isort: skip
import gateway_install  # isort: skip
import gateway_lan  # isort: skip
import partner  # isort: skip
from partner import Known, Partner, step  # isort: skip

GOLDEN = Path(__file__).parent / "golden/attic"
# What iproute2 6.1 says.
ADDRESSES = json.dumps(
    [{}, {"ifname": "eth1", "addr_info": [{"family": "inet", "local": "10.133.0.3", "prefixlen": 21}]}]
)


@pytest.fixture
def two() -> list[GatewaySpec]:
    return gateways("attic", attic=PAIR)


@pytest.mark.golden
def test_the_files_that_only_a_pair_has(two: list[GatewaySpec]) -> None:
    made = files(two[0])
    for path in (*pair.files(two[0]), firewall.CONFIG, f"{SETTINGS}/gateway.json", f"{UNITS}/landbridge.target"):
        (GOLDEN / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        golden.same(GOLDEN / path.lstrip("/"), made[path])


def test_each_names_the_other_and_both_the_same_next_hop(two: list[GatewaySpec]) -> None:
    one, other = (spec.pair for spec in two)
    assert one is not None
    assert other is not None
    assert (one.own, one.partner) == (other.partner, other.own)
    assert one.shared == other.shared
    assert {one.own, one.partner, one.shared} == {*pairs.all_of(one.lan_cidr)}
    (alone,) = gateways()
    assert (alone.pair, pair.files(alone)) == (None, {})
    assert "keepalived" not in "".join(files(alone)[path] for path in files(alone) if path.startswith(UNITS))


def test_scripts_and_files_speak_of_the_same(two: list[GatewaySpec]) -> None:
    assert {pair.CARRIES} == {str(partner.CARRIES), str(gateway_lan.CARRIES)}
    assert str(gateway_lan.DEVICE) == pair.DEVICE
    assert partner.PORT == pair.WORD_PORT
    assert f"/{gateway_install.PAIR}" == pair.CONFIG
    assert f"{gateway_install.UNIT}.service" == pair.UNIT
    assert failover.DRAW_SECONDS >= HOLD_SECONDS + 10


def test_the_lan_s_device_is_that_with_the_gateway_s_address(two: list[GatewaySpec]) -> None:
    told = {"own": "10.133.0.3", "lan_cidr": "10.133.0.0/21"}
    assert gateway_lan.devices(ADDRESSES) == {"10.133.0.3": "eth1"}
    assert gateway_lan.wrong(told, {"10.133.0.3": "eth1"}) == ""
    assert gateway_lan.wrong(told, {}) == "no device has 10.133.0.3: give it to the LAN's card, as 10.133.0.3/21"


def test_what_the_partner_loses_is_drawn_until_bgp_has_forgotten_it() -> None:
    known = step(Known(), {"west", "east"}, 1.0)
    assert known.drawn == {}, "what it has never reached it has not lost"
    known = step(known, {"east"}, 5.0)
    assert known.drawn == {"west": 5.0 + failover.DRAW_SECONDS}
    known = step(known, {"west", "east"}, 10.0)
    assert known.drawn.keys() == {"west"}, "one that comes and goes moves nothing twice"
    known = step(known, set(), 20.0)
    assert known.drawn.keys() == {"west", "east"}
    assert step(known, set(), 20.0 + failover.DRAW_SECONDS).drawn == {}


@pytest.fixture
def talking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Partner, socket.socket]]:
    """One on 127.0.0.2, whose partner on 127.0.0.3 is the test."""
    monkeypatch.setattr(partner, "CARRIES", tmp_path / "run/carries")
    monkeypatch.setattr(partner, "PORT", _free())
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.bind(("127.0.0.3", partner.PORT))
    other.settimeout(2)
    one = Partner("127.0.0.2", "127.0.0.3")
    yield one, other
    one.close()
    other.close()


def _free() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.2", 0))
        return int(one.getsockname()[1])


def test_two_watchdogs_speak(talking: tuple[Partner, socket.socket]) -> None:
    one, other = talking
    there: Any = ("127.0.0.2", partner.PORT)
    assert one.exchange({"west", "east"}, 1.0) == set()
    assert other.recv(100) == b"east west"
    assert partner.CARRIES.read_text() == "2\n", "and keepalived counts"
    other.sendto(b"east west", there)
    assert one.exchange({"west", "east"}, 1.2) == set()
    other.settimeout(0.05)
    with pytest.raises(TimeoutError):
        other.recv(100)
    assert one.exchange({"west"}, 1.3) == set()
    assert other.recv(100) == b"west", "a loss is said at once"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.4", 0))
        stranger.sendto(b"", there)
    assert one.exchange({"west"}, 1.4) == set()
    other.sendto(b"", there)
    assert one.exchange({"west"}, 1.5) == {"west"}, "it reaches none any more, and this one cannot draw what it has not"


def test_a_partner_that_says_nothing_reaches_nothing(talking: tuple[Partner, socket.socket]) -> None:
    one, other = talking
    one.exchange({"west"}, 1.0)
    other.sendto(b"west", ("127.0.0.2", partner.PORT))
    assert one.exchange({"west"}, 1.5) == set()
    assert one.exchange({"west"}, 1.5 + failover.SILENT_SECONDS - 0.1) == set()
    assert one.exchange({"west"}, 1.5 + failover.SILENT_SECONDS) == {"west"}


def test_without_an_address_in_the_lan_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partner, "CARRIES", tmp_path / "run/carries")
    assert Partner("192.0.2.99", "192.0.2.98").exchange({"west"}, 1.0) == set()
    assert partner.CARRIES.read_text() == "1\n"
