"""Teams are told by their webhooks whose work a plan concerns: once when it comes under it, and when it begins."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from fleet.maintenance import NodeState, Plan
from services.maintenance.owners import messages
from tests.support.waiting import eventually

from .bed import HOUR, Bed

START = 1_796_076_000.0
PLAN = Plan(
    "nic",
    "u",
    "1",
    "operator",
    "pool",
    "gpu",
    "new NIC",
    "",
    "",
    START,
    START + HOUR,
    0,
    60,
    60,
    False,
    False,
    {},
)


def state(phase: str, *teams: str) -> NodeState:
    return NodeState(phase, START - HOUR, START - HOUR, teams=teams)  # type: ignore[arg-type]


def told(before: dict[str, NodeState], after: dict[str, NodeState]) -> dict[str, str]:
    return dict(messages("main", PLAN, before, after))


def test_each_team_hears_once_of_what_is_planned_where_its_work_is() -> None:
    first = {"gpu-1": state("told", "vision"), "gpu-2": state("told", "vision", "speech"), "gpu-3": state("told")}
    found = told({}, first)
    assert found["speech"] == (
        "main: gpu-2: new NIC (an operator), from 2026-11-30T22:00:00Z. `landbridge maintenance show nic`"
    )
    assert found["vision"].startswith("main: gpu-1, gpu-2: new NIC")
    assert told(first, first) == {}
    closed = {name: one._replace(phase="closed") for name, one in first.items()}
    assert told(first, closed) == {}
    late = {**closed, "gpu-3": state("closed", "speech")}
    assert [*told(closed, late)] == ["speech"]
    begun = {**closed, "gpu-2": state("draining", "vision", "speech")}
    assert told(closed, begun)["vision"] == (
        "main: gpu-2: new NIC (an operator): it begins, and your work there is asked to leave"
    )
    assert told(begun, begun) == {}


def test_many_machines_are_one_message() -> None:
    many = {f"gpu-{number}": state("told", "vision") for number in range(60)}
    assert told({}, many)["vision"].startswith("main: gpu-0, gpu-1, gpu-2 and 57 more: new NIC")


@pytest.fixture
def posted(tmp_path: Path) -> Iterator[list[str]]:
    """What the lab's own address took; it is in the folder as Kubernetes lays a Secret."""
    found: list[str] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not a line a call."""

    server = HTTPServer(("127.0.0.1", 0), Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "lab").write_text(f"http://127.0.0.1:{server.server_port}/secret")
    yield found
    server.shutdown()
    server.server_close()


def test_the_service_tells_a_team_by_its_secret(bed: Bed, posted: list[str], tmp_path: Path) -> None:
    bed.keeper.owners.folder = tmp_path
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("nic", "node/host-1", after=2 * HOUR)
    bed.look(3)
    eventually(lambda: len(posted) == 1)
    bed.pass_(2 * HOUR)
    eventually(lambda: len(posted) == 2)
    assert posted[0].startswith("main: host-1: new NIC (an operator), from ")
    assert posted[1].endswith("it begins, and your work there is asked to leave")
