"""Machines that are gone: who counts as one, in which order they are shut out and removed, and what holds that up."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.components.pools.joining_bed import EAST, WEST
from tests.components.pools.joining_stand_ins import ONE, TWO, Api, thing

import departed  # isort: skip
import kube_http  # isort: skip
import nodes  # isort: skip
from instances_aws import Ec2  # isort: skip


class Gone:
    """A region in which some are gone."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)
        self.known: set[str] = set(names)
        self.source = Ec2([], None)

    def gone(self, name: str, _seconds: float) -> bool:
        return name in self.names

    def forget(self, name: str) -> None:
        self.known.discard(name)


def departures(api: Api, gone: Gone, *there: Any) -> departed.Departures:
    known = nodes.Nodes(lambda _: None)
    known.listed([nodes.read(one) for one in there])
    regions = type("Regions", (), {"regions": {WEST: gone, EAST: Gone()}})()
    return departed.Departures(api, known, regions, 120)


EMPTY = {"metadata": {"name": "landbridge-departed", "resourceVersion": "1"}}


@given(st.integers(0, 6000), st.integers(0, 6000))
def test_the_breaker_lets_a_tenth_go_or_three(gone: int, count: int) -> None:
    names = [f"i-{number:05}" for number in range(gone)]
    take, held = departed.bounded(reversed(names), count)
    assert len(take) <= max(3, count / 10)
    assert len(take) + held == gone
    assert list(take) == names[: len(take)]
    assert held == 0 or len(take) == max(3, count // 10)


def test_names_are_kept_until_their_certificates_are_over() -> None:
    now = datetime(2026, 1, 8, tzinfo=UTC)
    data = {"old": "2026-01-07T23:59:59Z", "young": "2026-01-08T00:00:01Z", "odd": "for ever"}
    found = departed.merged(data, ["new"], now)
    assert found == {"young": data["young"], "new": "2026-01-15T02:00:00Z", "odd": "2026-01-15T02:00:00Z"}
    assert departed.merged(found, [], now) == found
    assert departed.merged(None, [], now) == {}
    assert timedelta(hours=168) < departed.RETENTION
    many = {f"i-{number:017x}": "2026-01-14T00:00:00Z" for number in range(departed.MOST_ENTRIES)}
    full = departed.merged(many, ["new"], now)
    assert len(full) == departed.MOST_ENTRIES
    assert "new" in full
    assert len(json.dumps(full)) < 1 << 20


def test_a_machine_is_shut_out_before_its_node_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departed.time, "sleep", lambda seconds: api.calls.append(("sleep", str(seconds))))
    api = Api(**{departed.DEPARTED: EMPTY})
    work = departures(api, Gone(ONE), thing(ONE), thing(TWO), thing("host-1.lab", "lab"))
    work.once()
    assert api.calls[-3:] == [("PUT", departed.DEPARTED), ("sleep", "2.0"), ("DELETE", f"/api/v1/nodes/{ONE}")]
    assert api.bodies[-1]["preconditions"] == {"uid": f"uid-{ONE}"}
    assert set(api.things[departed.DEPARTED]["data"]) == {ONE} == work.shut
    api.answers["PUT", departed.DEPARTED] = 409
    again = departures(api, Gone(TWO), thing(TWO))
    with pytest.raises(kube_http.Answer):
        again.once()
    assert api.done("DELETE") == [f"/api/v1/nodes/{ONE}"], "not shut out, not removed"


def test_a_host_of_a_site_is_never_a_candidate() -> None:
    told = [
        nodes.read(thing(name, place))
        for name, place in (("host-1.lab", "lab"), ("host-1.lab", WEST), (ONE, WEST), (TWO, "lab"))
    ]
    names = Ec2([], None).names
    found = departed.candidates(told, {WEST: {"i-seen"}}, lambda _, name: names(name))
    assert found == {ONE: WEST, "i-seen": WEST}


def test_the_breaker_and_the_freeze_hold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departed, "SETTLE_SECONDS", 0.0)
    names = [f"i-0123456789abcde{number:02x}" for number in range(40)]
    there = [thing(name) for name in names]
    api = Api(**{departed.DEPARTED: EMPTY})
    work = departures(api, Gone(*names), *there)
    work.once()
    assert len(api.done("DELETE")) == 4
    assert len(api.things[departed.DEPARTED]["data"]) == 4, "no more are shut out either"
    assert "BREAKER: 4 of 40 machines go in this pass, of 40 nodes" in capsys.readouterr().err
    api = Api(**{departed.DEPARTED: EMPTY, departed.FREEZE: {"data": {"why": "drill\n"}}})
    work = departures(api, Gone(*names), *there)
    for _ in range(3):
        work.once()
    assert api.done("DELETE") == api.done("PUT") == []
    said = capsys.readouterr().err
    assert said == "40 machines are gone, but the cluster is frozen ('drill\\n'): no node is removed\n", "once"
    api.answers["GET", departed.FREEZE] = 500
    with pytest.raises(kube_http.Answer):
        work.once()
    assert api.done("DELETE") == [], "whether it is frozen is not known"
