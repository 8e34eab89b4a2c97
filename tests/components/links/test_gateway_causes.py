"""Causes of a tunnel without keys, by lines that strongSwan 5.9.8 has written; tests/lab/test_causes.py has it write them."""

import json

import pytest

from . import bed  # noqa: F401

import gateway_causes  # isort: skip
import gateway_raise  # isort: skip
from gateway_causes import causes, of_journal  # isort: skip
from gateway_state import Tunnel  # isort: skip

KEY, ESP, IKE, NO_KEY, SILENT = (cause.what for cause in gateway_causes.CAUSES if cause.what)
WELL = "IKE_SA a[1] established between 192.0.2.10[192.0.2.10]...198.51.100.1[198.51.100.1]"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("received AUTHENTICATION_FAILED notify error", KEY),
        ("tried 1 shared key for '192.0.2.10' - '198.51.100.1', but MAC mismatched", KEY),
        ("received NO_PROPOSAL_CHOSEN notify error", IKE),
        ("received NO_PROPOSAL_CHOSEN notify, no CHILD_SA built", ESP),
        ("no shared key found for '192.0.2.10' - '198.51.100.1'", NO_KEY),
        ("giving up after 3 retransmits", SILENT),
    ],
)
def test_a_line_has_its_cause(line: str, cause: str) -> None:
    assert causes([("a", WELL), ("a", line), ("a", "sending packet: from 192.0.2.10[500]")]) == {"a": cause}


def test_what_is_up_again_has_none_and_tunnels_have_their_own() -> None:
    lost = "received AUTHENTICATION_FAILED notify error"
    assert causes([("a", lost), ("b", lost), ("a", WELL)]) == {"a": "", "b": KEY}


def test_the_journal_is_read_and_what_is_of_no_tunnel_is_left() -> None:
    lines = [
        {"MESSAGE": "giving up after 3 retransmits", "IKE_SA_NAME": "a"},
        {"MESSAGE": "spawning 16 worker threads"},
        {"MESSAGE": [112, 255], "IKE_SA_NAME": "b"},
    ]
    assert causes(of_journal("\n".join([*map(json.dumps, lines), "-- cut", "[]"]))) == {"a": SILENT}


def test_what_was_given_up_is_begun_again_and_what_is_at_work_is_left() -> None:
    idle = Tunnel("a", "west", True, "", "", "Active", 0, 0, 0, 0)
    others = [idle._replace(name="b", ike="CONNECTING"), idle._replace(name="c", device=False)]
    assert gateway_raise.given_up([idle, *others]) == ["a"]
