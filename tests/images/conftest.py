"""One local AWS for all that is published; tests keep apart by their fleets' names."""

from collections.abc import Iterator

import pytest

from tests.local.aws.conftest import served


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    yield from served()
