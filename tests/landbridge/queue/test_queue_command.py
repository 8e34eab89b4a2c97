"""`landbridge queue` where there is no queue, and what people see."""

import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from fleet import team_queues
from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World
from landbridge.access.person import OPERATOR, Person
from landbridge.cluster.kube import KubeError
from landbridge.commands import queue
from landbridge.errors import UsageError
from landbridge.output import Output
from landbridge.places import Place
from landbridge.queue.look import look
from landbridge.remote_execution import CommandResult
from tests.components.addons import bed

from .test_runs import RUNNING, queues, workload


def operator(path: Path, text: str, kube: Any = None) -> Person:
    path.write_text(text)
    fleet = load(path)
    world = World(fleet, draft(fleet, None, bed.BORN).plan, path)
    return Person(world, cast(Place, SimpleNamespace(options=" --local")), "main", kube, OPERATOR, "")


def test_where_no_team_has_a_queue_the_message_says_what_to_write_and_that_is_taken(tmp_path: Path) -> None:
    text = re.sub(r", queues: \{.*\}\}\}", "}", (bed.HERE / "queues.yaml").read_text())
    with pytest.raises(
        UsageError, match=r"^fleet.yaml: no team has a queue in main\. .*`landbridge up --local`"
    ) as told:
        look(operator(tmp_path / "fleet.yaml", text))
    remedy = re.search(r"say (\w+): (.*\}\}), then", str(told.value))
    assert remedy
    team, entry = remedy.groups()
    given = re.sub(rf"({team}: \{{gid: \d+)\}}", rf"\1, {entry}}}", text)
    (tmp_path / "fleet.yaml").write_text(given)
    assert list(team_queues.of_cluster(load(tmp_path / "fleet.yaml"), "main")) == [team]


class WithoutKinds:
    """An API server before the queues came: kubectl's own words."""

    def get(self, *words: str) -> Any:
        err = 'error: the server doesn\'t have a resource type "workloads"'
        raise KubeError("kubectl get: it failed", CommandResult(1, "", err))


def test_before_the_queues_stand_the_message_says_what_brings_them(tmp_path: Path) -> None:
    text = (bed.HERE / "queues.yaml").read_text()
    with pytest.raises(UsageError, match=r"^main has no queues yet\. fleet.yaml has some, .*`landbridge up --local`"):
        look(operator(tmp_path / "fleet.yaml", text, WithoutKinds()))


def test_people_see_teams_places_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    found = queues(RUNNING, *(workload(f"run-{n}", "robots", 1, at=n) for n in (2, 3)))
    console = Console(width=160, highlight=False)
    queue.show(found, Output(console, console, as_json=False), found.runs[0].since)
    lines: list[Any] = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["team", "owns", "may", "borrow", "holds", "waiting"]
    assert lines[1].split() == ["robots", "16", "0", "16", "2"]
    last = " ".join(lines[-1].split())
    assert last.startswith("run-3 robots normal 8 waits")
    assert last.endswith("1 before it; robots holds 16 GPUs of 16: it owns 16 and may borrow none")


def test_an_empty_queue_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=160, highlight=False)
    queue.show(queues(), Output(console, console, as_json=False), datetime.now(UTC))
    assert "Nobody runs, and nobody waits." in capsys.readouterr().out
