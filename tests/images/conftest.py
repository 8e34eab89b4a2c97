"""One local AWS for all that is published, and one local Azure a file; tests keep apart by their fleets' names."""

from collections.abc import Iterator

import pytest

from tests.local.aws.conftest import served
from tests.local.azure.support import LocalAzure
from tests.local.azure.support import served as azure_served


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    yield from served()


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from azure_served(tmp_path_factory.mktemp("azure"))
