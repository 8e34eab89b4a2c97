"""A seed of the matrix of kills, of a fleet that is small: tests/e2e/kills.py has the whole."""

from pathlib import Path

import pytest

from tests.e2e import kills
from tests.support.cloud import make

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]


def test_a_killed_up_and_a_killed_destroy_end_well_the_next_time(tmp_path: Path) -> None:
    cloud = make(tmp_path, kills.SMALL)
    try:
        rows = kills.story(cloud, 1, 2, kills.usual(cloud))
    finally:
        cloud.stop()
    assert [row["command"] for row in rows] == ["up", "up", "destroy", "destroy"]
    assert any(row["hit"] for row in rows)
