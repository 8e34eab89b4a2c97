"""A cloud's world outlives kill -9, call for call, with what it gave and what waits: AWS's and Azure's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .aws import bed as aws
from .azure import bed as azure
from .support import CALLERS, Server, killed_under_calls

CLOUDS = {"aws": aws.served, "azure": azure.served}


@pytest.fixture(params=CLOUDS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    yield from CLOUDS[request.param](tmp_path)


def test_a_fleets_world_outlives_kills_and_stops_and_what_was_given_holds(server: Server) -> None:
    fleet = server.fleet()
    before = fleet.seen()
    for end in (server.kill, server.end, server.kill):  # calls made again, a picture, both
        end()
        server.start()
        assert fleet.seen() == before
        fleet.holds()
    fleet.goes_on()
    assert "another answer" not in server.log.read_text()


def test_what_was_answered_before_a_kill_is_there(server: Server) -> None:
    answered = killed_under_calls(server)
    found = server.made()
    assert set(answered) <= set(found)
    assert len(found) <= len(answered) + CALLERS
