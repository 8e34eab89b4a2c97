"""The control plane that tests share; each leaves it healthy."""

from collections.abc import Iterator

import pytest

from tests.landbridge import bed as beds


@pytest.fixture(scope="package")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[beds.Bed]:
    yield from beds.make(tmp_path_factory.mktemp("bed"))
