"""The control plane that tests share; each leaves it healthy."""

from collections.abc import Iterator

import pytest

from landbridge.site import store
from tests.landbridge import bed as beds
from tests.landbridge import site_bed


@pytest.fixture(scope="package")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[beds.Bed]:
    yield from beds.make(tmp_path_factory.mktemp("bed"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[site_bed.SiteBed]:
    """Bare hosts of a site beside a cluster's API."""
    with pytest.MonkeyPatch.context() as patch:
        for made in site_bed.make(tmp_path_factory.mktemp("site")):
            patch.setattr(store, "read", made.read)
            patch.setattr(store, "pointer", made.pointer)
            yield made
