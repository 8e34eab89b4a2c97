"""Why BGP does not speak with Azure, by FRR's configuration; tests/lab/azure/test_tunnels.py has FRR and the other end say so."""

import json
from pathlib import Path

import pytest

from components.control_plane.units import SETTINGS
from components.links.gateway import bgp
from components.links.gateway.files import files

from .bed import AZURE, gateways

import failover  # isort: skip
import gateway_bgp_causes  # isort: skip
import gateway_state  # isort: skip
import watchdog  # isort: skip

(SPEC,) = gateways("lab", AZURE)
CONFIG = bgp.config(SPEC)
TOLD = [one for one in json.loads(files(SPEC)[f"{SETTINGS}/gateway.json"])["tunnels"] if one["region"] == AZURE]
PEER = str(TOLD[1]["peer"])


def test_nothing_is_wrong_with_what_is_rendered() -> None:
    assert len(TOLD) == 2
    assert [gateway_bgp_causes.cause(one, CONFIG) for one in TOLD] == ["", ""]


@pytest.mark.parametrize(
    ("told", "config", "what"),
    [
        ({}, f"{CONFIG}\n neighbor {PEER} passive\n", f"FRR waits for {PEER} to begin"),
        ({"peer": "169.254.23.6"}, CONFIG.replace(PEER, "169.254.23.6"), "169.254.23.6 is none of Azure's"),
        ({}, CONFIG.replace("update-source 169.254.2", "update-source 10.254.2"), "is none of Azure's"),
        ({}, CONFIG.replace(f"{PEER} update-source", f"{PEER} weight"), "FRR speaks from the tunnel"),
        ({"cloud": "aws"}, f"{CONFIG}\n neighbor {PEER} passive\n", ""),
        ({}, "", ""),
    ],
)
def test_what_azure_would_not_answer_is_named(told: dict[str, str], config: str, what: str) -> None:
    found = gateway_bgp_causes.cause({**TOLD[1], **told}, config)
    assert found.startswith(what) if what == "" or what[0] == "F" else what in found
    assert bool(found) is bool(what)


def test_frr_is_asked_only_where_there_are_keys_and_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    waiting = f"{CONFIG}\n neighbor {PEER} passive\n"
    monkeypatch.setattr(gateway_state, "asked", lambda *words: asked.append(words) or (waiting, ""))
    one = gateway_state.Tunnel("westeurope-2", AZURE, True, "ESTABLISHED", "INSTALLED", "Active", 9, 0, 0, 0)
    assert "FRR waits" in gateway_state.explained(one, TOLD[1]).trouble
    assert len(asked) == 1
    for other in (one._replace(bgp="Established"), one._replace(ike="", esp="")):
        assert gateway_state.explained(other, TOLD[1]) == other
    assert len(asked) == 1


def test_an_end_that_answers_no_question_is_no_silent_one(tmp_path: Path) -> None:
    (tmp_path / "gateway.json").write_text(files(SPEC)[f"{SETTINGS}/gateway.json"])
    gateway = watchdog.read(tmp_path / "gateway.json")
    (_, second) = [one for one in gateway.tunnels if one.region == AZURE]

    class Socket:
        """Hears one answer, and then nothing."""

        def __init__(self, *packets: bytes) -> None:
            self.packets = list(packets)

        def setsockopt(self, *_: object) -> None:
            pass

        def recvfrom(self, _: int) -> tuple[bytes, tuple[str, int]]:
            if not self.packets:
                raise BlockingIOError
            return self.packets.pop(0), (second.peer, 0)

    def silent(*packets: bytes) -> set[str]:
        watch = watchdog.Watch(gateway, Socket(), Socket(*packets))  # type: ignore[arg-type]
        watch.hear()
        watch.believed, watch.believed_at = {one.name for one in gateway.tunnels}, 99.9
        watch.heard = {one.name: 1.0 for one in gateway.tunnels}
        return {path.name for path in watch.paths(100.0) if not path.speaks(100.0)}

    of_aws = {one.name for one in gateway.tunnels if one.cloud == "aws"}
    head = bytes([0x45, *[0] * 19])
    assert silent() == of_aws
    assert silent(head + watchdog.echo(1)) == of_aws, "a question is no answer"
    assert silent(head + b"\0" + watchdog.echo(1)[1:]) == {*of_aws, second.name}


def test_azure_s_halves_are_told_until_its_hold_timer_has_ended() -> None:
    for one in TOLD:
        assert one["draw_seconds"] == 190
    path = failover.Path("a", AZURE, None, True, draw_seconds=190.0)
    memory = failover.Memory({"a": failover.Left(30.0, since=10.0)}, {})
    assert failover.drawn([path], memory, 199.0) == {AZURE}
    assert failover.drawn([path], memory, 200.0) == set()
