"""Dashboards as files: Grafana finds in them what it needs, and people tell their colours apart."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from ruamel.yaml import YAML

from components.addons.monitoring import prometheus, targets
from landbridge.dashboards import colours
from landbridge.dashboards.board import Board, Panel, whole
from landbridge.dashboards.grafana import BOARDS, SIZES, written

Json = dict[str, Any]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
TYPES = {
    "number": "stat",
    "bad": "stat",
    "lines": "timeseries",
    "areas": "timeseries",
    "heat": "heatmap",
    "table": "table",
}
each = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
# Panel with a limit → the alarm whose limit it is, and what that counts in.
ALARMS = {
    "Hottest GPU of each machine": ("GPUHot", 1),
    "Share that fails": ("APIErrors", 1),
    "Refused for load": ("APIRefusesForLoad", 1),
    "API: one write in a hundred takes longer than": ("APISlow", 1),
    "Its databases, of their quota": ("EtcdFilling", 1),
    "Changes of the leader in an hour": ("EtcdLeaderChanges", 1),
    "Disks: one write in a hundred takes longer than": ("EtcdDiskSlow", 1),
    "API: one write to it in a hundred takes longer than": ("EtcdSlow", 1),
    "Since it last looked": ("AutoscalerStopped", 1),
    "Share of calls to clouds that fail": ("CloudRefusesCalls", 1),
    "Since clouds last told of machines": ("CloudUnseen", 1),
    "Machines that should go and stay, in an hour": ("MachinesDoNotGo", 1),
    "Of how long ago nothing is recorded yet": ("RecorderBlind", 1),
}


def panels(board: Board) -> list[Panel]:
    return [panel for row in board.rows for panel in row.panels]


def shown(board: Board) -> list[Json]:
    return [one for one in json.loads(written(board))["panels"] if one["type"] != "row"]


def test_names_are_used_once_and_stay_the_same() -> None:
    assert [board.uid for board in BOARDS] == [
        f"landbridge-{name}" for name in ("fleet", "gpus", "control-plane", "work")
    ]
    assert len({board.title for board in BOARDS}) == len(BOARDS)
    for board in BOARDS:
        assert written(board) == written(board)
        titles = [panel.title for panel in panels(board)]
        assert len(titles) == len(set(titles))


@each
def test_what_stands_in_the_table_is_in_the_file(board: Board) -> None:
    document = json.loads(written(board))
    assert (document["uid"], document["title"]) == (board.uid, board.title)
    assert [one["title"] for one in document["panels"] if one["type"] == "row"] == [row.title for row in board.rows]
    found = shown(board)
    assert [(one["title"], one["type"]) for one in found] == [(one.title, TYPES[one.kind]) for one in panels(board)]
    assert {panel.kind for one in BOARDS for panel in panels(one)} == SIZES.keys() == TYPES.keys()
    for one, panel in zip(found, panels(board), strict=True):
        assert one["fieldConfig"]["defaults"]["unit"] == panel.unit
        assert len(one["targets"]) == len(panel.queries) <= len(colours.ALL)
        assert all(target.get("interval", "30s") == f"{targets.SECONDS}s" for target in one["targets"])
        assert not re.search("|".join(re.escape(word) for word in ("$HERE", "$PLACED", "$BY_POOL")), json.dumps(one))


@each
def test_each_panel_asks_the_prometheus_that_was_chosen(board: Board) -> None:
    first, *others = json.loads(written(board))["templating"]["list"]
    assert (first["name"], first["type"], first["query"]) == ("datasource", "datasource", "prometheus")
    assert [one["datasource"] for one in others] == [SOURCE] * len(board.choices)
    for one in shown(board):
        assert one["datasource"] == SOURCE
        assert [target["datasource"] for target in one["targets"]] == [SOURCE] * len(one["targets"])


@each
def test_only_variables_that_there_are_stand_in_queries(board: Board) -> None:
    document = json.loads(written(board))
    known = ["__rate_interval"]
    for variable in document["templating"]["list"][1:]:
        # One that stands above another can't ask for it.
        assert set(re.findall(r"\$(\w+)", variable["query"]["query"])) <= {*known}
        known.append(variable["name"])
    asked = {name for one in shown(board) for t in one["targets"] for name in re.findall(r"\$(\w+)", t["expr"])}
    assert asked - {"__rate_interval"} == {*known} - {"__rate_interval"} - (
        {"place", "pool"} if board.name == "gpus" else set()
    )


@each
def test_names_of_series_come_from_labels_that_are_asked_for(board: Board) -> None:
    for panel in panels(board):
        columns = {*panel.columns} - {"Value"}
        for query in panel.queries:
            for label in {*re.findall(r"\{\{(\w+)\}\}", query.legend), *columns}:
                assert re.search(rf"by \([^)]*\b{label}\b", whole(query.asks)), label
        assert bool(panel.columns) == (panel.kind == "table")


@each
def test_panels_lie_beside_each_other(board: Board) -> None:
    document = json.loads(written(board))
    assert len({one["id"] for one in document["panels"]}) == len(document["panels"])
    boxes = [one["gridPos"] for one in document["panels"]]
    assert all(box["x"] + box["w"] <= 24 for box in boxes)
    for one, other in combinations(boxes, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def values(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for one in found.values() if isinstance(found, dict) else found:
            yield from values(one)


@each
def test_colours_are_those_that_everybody_tells_apart(board: Board) -> None:
    used = {one for one in values(shown(board)) if re.fullmatch(r"#[0-9A-F]{6}", one)}
    assert used
    assert used <= {*colours.ALL}
    assert not {"palette-classic", "continuous-GrYlRd"} & {*values(shown(board))}
    assert {one["options"]["color"]["scheme"] for one in shown(board) if one["type"] == "heatmap"} <= {colours.HEAT}
    for known in colours.KNOWN.values():
        assert len({*known.values()}) == len(known)


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return sum(share * part**2.2 for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_well_and_bad_differ_in_more_than_red_and_green() -> None:
    well, bad = (int(one[5:], 16) for one in (colours.WELL, colours.BAD))
    assert well - bad > 128, "by their blue, which nearly everybody sees"
    assert len({round(luminance(one), 2) for one in colours.ALL}) == len(colours.ALL), "in grey, too"


def test_limits_are_those_of_the_alarms() -> None:
    groups = [group for text in prometheus.rules().values() for group in YAML(typ="safe").load(text)["groups"]]
    expressions = {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"] if "alert" in rule}
    limits = {one.title: one.limit for board in BOARDS for one in panels(board) if one.limit is not None}
    # The other way to say that one in a hundred takes longer than a second.
    assert limits.pop("Share that takes longer than a second") == 0.01
    assert limits.keys() == ALARMS.keys()
    for title, (alarm, unit) in ALARMS.items():
        assert re.search(rf"> {re.escape(f'{limits[title] / unit:g}')}(?!\d)", expressions[alarm]), title
