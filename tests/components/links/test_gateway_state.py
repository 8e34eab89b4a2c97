"""What a gateway says of its tunnels, from what its daemons say: the words of strongSwan 5.9.8 and FRR 8.4."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from components.links.gateway.files import whole

from .bed import gateways

import gateway_state  # isort: skip
import gateway_verify  # isort: skip
from gateway_state import State, Tunnel  # isort: skip

SAS = (
    "list-sa event {us-west-2-1 {uniqueid=1 version=2 state=ESTABLISHED local-host=192.0.2.10 local-port=4500 "
    "local-id=192.0.2.10 remote-host=198.51.100.1 remote-port=4500 remote-id=198.51.100.1 initiator=yes "
    "initiator-spi=ad59739e531af127 responder-spi=a61b94908f88919c encr-alg=AES_CBC encr-keysize=256 "
    "integ-alg=HMAC_SHA2_256_128 prf-alg=PRF_HMAC_SHA2_256 dh-group=ECP_384 established=70 rekey-time=24844 "
    "child-sas {us-west-2-1-1 {name=us-west-2-1 uniqueid=1 reqid=1 state=REKEYED mode=TUNNEL protocol=ESP bytes-in=9 "
    "packets-in=1 local-ts=[0.0.0.0/0] remote-ts=[0.0.0.0/0]} us-west-2-1-2 {name=us-west-2-1 uniqueid=2 reqid=1 "
    "state=INSTALLED mode=TUNNEL protocol=ESP encap=yes encr-alg=AES_GCM_16 encr-keysize=256 bytes-in=1190 "
    "packets-in=16 use-in=9 bytes-out=1516 rekey-time=3129 local-ts=[0.0.0.0/0] remote-ts=[0.0.0.0/0]}}}}\n"
    "list-sa event {us-west-2-2 {uniqueid=2 version=2 state=CONNECTING local-host=192.0.2.10 child-sas {}}}\n"
    "list-sas reply {}\n"
)
SUMMARY = json.dumps(
    {
        "peers": {
            "169.254.23.17": {"state": "Established", "pfxRcd": 1},
            "169.254.23.21": {"state": "Idle (Admin)", "pfxRcd": 0},
        }
    }
)
# A key of an earlier generation that is still there, and its successor.
AGAIN = (
    SAS.splitlines()[0].replace("uniqueid=1 version", "uniqueid=7 version").replace("established=70", "established=5")
)


LOG = json.dumps({"MESSAGE": "received AUTHENTICATION_FAILED notify error", "IKE_SA_NAME": "us-west-2-2"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the example's gateway is installed; the first two tunnels are those to west."""
    (spec,) = gateways()
    for path, text in whole(spec, {end.tunnel.name: "a-key" for end in spec.ends}).items():
        file = tmp_path / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.fixture
def state(root: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    said = {"swanctl": (SAS, ""), "vtysh": (SUMMARY, ""), "journalctl": (LOG, ""), "timedatectl": ("no\n", "")}
    monkeypatch.setattr(gateway_state, "asked", lambda *command: said[command[0]])
    told = json.loads((root / gateway_state.SETTINGS).read_text())
    for one, peer in zip(told["tunnels"], ("169.254.23.17", "169.254.23.21"), strict=False):
        one["peer"] = peer
    (root / gateway_state.SETTINGS).write_text(json.dumps(told))
    listed = json.loads((root / gateway_state.LIST).read_text())
    text = (root / gateway_state.SETTINGS).read_bytes()
    listed["files"][f"/{gateway_state.SETTINGS}"] = hashlib.sha256(text).hexdigest()
    (root / gateway_state.LIST).write_text(json.dumps(listed))
    return gateway_state.look(root)


def test_a_tunnel_is_up_when_both_phases_and_bgp_are(state: State) -> None:
    first, second, third = state.tunnels[:3]
    assert first.up
    assert first[3:] == ("ESTABLISHED", "INSTALLED", "Established", 70, 1190, 1516, 1, "")
    assert (second.ike, second.esp, second.bgp, second.up) == ("CONNECTING", "", "Idle (Admin)", False)
    assert (third.ike, third.esp, third.bgp, third.up) == ("", "", "", False)
    assert (state.site, state.gateway, state.differs, state.healthy) == ("lab", "192.0.2.10", (), False)


def test_a_cause_in_the_log_is_told_instead_of_a_guess_and_a_clock_that_nobody_sets_is_a_trouble(state: State) -> None:
    first, second = (one._replace(device=True) for one in state.tunnels[:2])
    assert (first.cause, first.trouble) == ("", "")
    assert "the two ends have different keys" in second.trouble
    assert [one.partition(" (")[0] for one in state.troubles] == ["the clock follows no time server"]


def test_of_a_pair_it_says_whose_the_next_hop_is(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = ({"own": own, "shared": "10.133.0.2"} for own in ("10.133.0.3", "10.133.0.4"))
    here = json.dumps([{"ifname": "lan", "addr_info": [{"local": "10.133.0.3"}, {"local": "10.133.0.2"}]}])
    said = {"ip": (here, ""), "systemctl": ("active\n", "")}
    monkeypatch.setattr(gateway_state, "asked", lambda *command: said[command[0]])
    assert gateway_state.paired(one) == ("10.133.0.2 is here", "")
    said |= {"ip": ("[]", ""), "systemctl": ("", "systemctl: inactive")}
    assert gateway_state.paired(other) == (
        "10.133.0.2 is not here",
        "keepalived does not run: `systemctl status landbridge-pair` says why",
    )


def test_the_newest_of_two_associations_counts() -> None:
    found = gateway_state.associations(f"{AGAIN}\n{SAS}")
    assert found["us-west-2-1"]["established"] == "5"


def test_what_somebody_has_changed_or_taken_away_is_named(root: Path) -> None:
    assert gateway_state.differing(root) == []
    (root / "etc/frr/frr.conf").write_text("router bgp 1")
    (root / "etc/sysctl.d/60-landbridge.conf").unlink()
    (root / "etc/swanctl/conf.d/landbridge-keys.conf").write_text("secrets {}")
    assert set(gateway_state.differing(root)) == {
        "/etc/frr/frr.conf",
        "/etc/sysctl.d/60-landbridge.conf",
        "/etc/swanctl/conf.d/landbridge-keys.conf",
    }
    (root / gateway_state.LIST).unlink()
    assert gateway_state.differing(root) == [f"/{gateway_state.LIST}"]


def test_a_daemon_that_does_not_answer_is_a_trouble() -> None:
    assert gateway_state.asked("false") == ("", "false: 1")
    assert gateway_state.asked("no-such-program")[1].startswith("no-such-program: ")
    assert gateway_state.asked("echo", "here") == ("here\n", "")


def test_people_programs_and_monitoring_are_told_the_same(state: State) -> None:
    lines = list(gateway_verify.table(state._replace(differs=("/etc/frr/frr.conf",), troubles=("vtysh: no",))))
    assert lines[2].split() == ["us-west-2-1", "up", "established", "installed", "Established", "1"]
    assert lines[3].split()[:2] == ["us-west-2-2", "left"]
    assert lines[4].split()[1] == "DOWN"
    assert "us-west-2-2: it has no interface: `networkctl reload`" in lines
    assert lines[-2:] == ["/etc/frr/frr.conf is not as it was written", "vtysh: no"]
    told = json.loads(gateway_verify.document(state))
    assert (told["healthy"], told["tunnels"][0]["up"], told["tunnels"][0]["name"]) == (False, True, "us-west-2-1")
    text = gateway_verify.metrics(state)
    assert 'landbridge_tunnel_up{tunnel="us-west-2-1",region="us-west-2"} 1' in text
    assert 'landbridge_tunnel_left{tunnel="us-west-2-2",region="us-west-2"} 1' in text
    assert "landbridge_gateway_differing_files 0" in text


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"device": False, "bgp": "Active"}, "it has no interface"),
        ({"ike": "CONNECTING"}, "does not agree to a key: `swanctl --initiate --child a`"),
        ({"ike": ""}, "does not agree to a key"),
        ({"esp": ""}, "takes no traffic"),
        ({"bgp": "Idle (Admin)"}, "the watchdog has left it"),
        ({"bgp": "Idle (PfxCt)"}, "more prefixes than it may"),
        ({"bgp": "Active"}, "does not speak BGP"),
        ({"bgp": ""}, "FRR has no such neighbour"),
    ],
)
def test_of_a_tunnel_the_first_thing_that_is_wrong_is_told(changed: dict[str, Any], why: str) -> None:
    one = Tunnel("a", "west", True, "ESTABLISHED", "INSTALLED", "Established", 1, 0, 0, 1)
    assert one.trouble == ""
    assert why in one._replace(**changed).trouble


def test_all_is_well_when_every_tunnel_is_up_and_nothing_differs() -> None:
    one = Tunnel("a", "west", True, "ESTABLISHED", "INSTALLED", "Established", 1, 0, 0, 1)
    state = State("lab", "192.0.2.10", "p", (one,), (), ())
    assert state.healthy
    assert not state._replace(troubles=("x",)).healthy
    assert not state._replace(differs=("x",)).healthy
