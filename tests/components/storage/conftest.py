"""A server with its bucket for each test: they are folders, and cost nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.components.storage import bed


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bed.Server]:
    with bed.cloud(tmp_path, monkeypatch) as state:
        made = bed.Server(tmp_path, os.getuid(), os.getgid())
        made.state = state
        yield made
