"""One local Azure and one provider host for a file's tests; a plugin, a group or a stack for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.providers.azure.backend import Azure
from local.providers.azure.transport import Transport
from tests.local.azure.conftest import azure, group, place  # noqa: F401  (fixtures)
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from .project import ACCOUNT, Plugins, Project, plugins


@pytest.fixture
def plugin(azure: LocalAzure) -> Azure:  # noqa: F811
    """A provider of southcentralus, without an engine."""
    made = Azure(Transport(f"127.0.0.1:{azure.tls}", azure.authority))
    made.configure({"subscriptionId": SUBSCRIPTION, "location": "southcentralus", **ACCOUNT})
    return made


@pytest.fixture(scope="module")
def made(azure: LocalAzure) -> Iterator[Plugins]:  # noqa: F811
    yield from plugins(azure)


@pytest.fixture
def project(tmp_path: Path, made: Plugins) -> Project:
    return Project(tmp_path / "project", made)
