"""One local Azure and one provider host for a file's tests, a stack for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.azure.conftest import azure  # noqa: F401  (fixture)
from tests.local.azure.support import LocalAzure

from .project import Plugins, Project, plugins


@pytest.fixture(scope="module")
def made(azure: LocalAzure) -> Iterator[Plugins]:  # noqa: F811
    yield from plugins(azure)


@pytest.fixture
def project(tmp_path: Path, made: Plugins) -> Project:
    return Project(tmp_path / "project", made)
