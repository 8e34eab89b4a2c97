"""Alarms of the fleet's own are read by promtool before anything is begun."""

from datetime import date
from pathlib import Path

import pytest

from fleet.address.plan import draft
from fleet.errors import FleetError
from fleet.loader import load
from fleet.world import World
from landbridge.errors import UsageError
from landbridge.monitoring import own_alarms
from tests.fleet.test_remarks import FLEET

MONITORING = "monitoring:\n  receivers: {hook: {kind: webhook}}\n  alarms:\n"


def world(folder: Path, *alarms: str) -> World:
    path = folder / "fleet.yaml"
    path.write_text(FLEET + (MONITORING + "".join(f"    {one}\n" for one in alarms) if alarms else ""))
    fleet = load(path)
    return World(fleet, draft(fleet, None, date(2026, 1, 1)).plan, path)


def refused(folder: Path, alarm: str) -> str:
    with pytest.raises(FleetError) as caught:
        own_alarms.check(world(folder, "Well: {when: up == 0, says: It is away.}", alarm))
    (problem,) = caught.value.problems
    assert problem.line == len(FLEET.splitlines()) + 5
    return str(problem)


def test_what_prometheus_takes_is_taken(tmp_path: Path) -> None:
    own_alarms.check(
        world(tmp_path, 'Hot: {when: "max by (node) (up) > 1", after: 1h, says: "{{ $labels.node }} is hot."}')
    )


def test_a_query_with_a_typo_is_told_with_its_line_and_promtool_s_words(tmp_path: Path) -> None:
    said = refused(tmp_path, "Typo: {when: sum by node (up) > 1, says: It is so.}")
    assert "alarm Typo is none that Prometheus takes: " in said
    assert "unexpected" in said
    assert "Write PromQL, such as up == 0, or node_load1 > 100." in said
    assert str(tmp_path) not in said


def test_what_it_says_may_be_wrong_too(tmp_path: Path) -> None:
    assert "is none that Prometheus takes" in refused(
        tmp_path, 'Typo: {when: up == 0, says: "{{ $labels.node is hot."}'
    )


def test_a_name_of_ours_is_ours(tmp_path: Path) -> None:
    said = refused(tmp_path, "GPUXid: {when: up == 0, says: It is so.}")
    assert said.endswith("alarm GPUXid is one that comes with the clusters. Choose another name for it.")


def test_the_remedy_is_taken(tmp_path: Path) -> None:
    own_alarms.check(world(tmp_path, "Away: {when: up == 0, says: a}", "Busy: {when: node_load1 > 100, says: b}"))


def test_without_any_nothing_is_asked_and_with_some_promtool_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_alarms.installation, "BIN", tmp_path)
    monkeypatch.setenv("PATH", "")
    own_alarms.check(world(tmp_path))
    with pytest.raises(UsageError, match=r"promtool is missing: .+ Run `make setup`\."):
        own_alarms.check(world(tmp_path, "Away: {when: up == 0, says: a}"))
