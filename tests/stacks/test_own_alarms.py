"""`pulumi preview` by itself: the stack of add-ons reads the fleet's own alarms before it asks for anything."""

import asyncio
from pathlib import Path

import pulumi
import pytest

from stacks import addons
from stacks.addons import own_alarms
from stacks.catalogue import catalogue
from tests.fleet.test_remarks import FLEET
from tests.landbridge.monitoring.test_own_alarms import world

GOOD = "Away: {when: up == 0, says: It is away.}"


def said(folder: Path, *alarms: str) -> str:
    made = world(folder, GOOD, *alarms)
    (stack,) = [one for one in catalogue(made.fleet) if one.kind == "addons"]
    with pytest.raises(pulumi.RunError) as caught:
        asyncio.run(addons.build(made, stack))
    return str(caught.value)


def test_one_that_prometheus_would_not_take_is_told_with_file_and_line(tmp_path: Path) -> None:
    told = said(tmp_path, "Typo: {when: sum by node (up) > 1, says: It is so.}")
    assert f"fleet.yaml:{len(FLEET.splitlines()) + 5}: alarm Typo is none that Prometheus takes: " in told


def test_without_promtool_names_are_looked_at_and_queries_are_said_to_be_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(own_alarms.installation, "BIN", tmp_path)
    monkeypatch.setenv("PATH", "")
    told = said(tmp_path, "GPUXid: {when: up == 0, says: It is so.}")
    assert "alarm GPUXid is one that comes with the clusters" in told
    assert "promtool is missing: it is neither in .landbridge/bin nor on the PATH" in capsys.readouterr().err
    own_alarms.check(world(tmp_path, "Typo: {when: sum by node (up) > 1, says: It is so.}"))


def test_a_fleet_without_any_asks_for_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(own_alarms.installation, "BIN", tmp_path)
    monkeypatch.setenv("PATH", "")
    own_alarms.check(world(tmp_path))
    assert not capsys.readouterr().err
