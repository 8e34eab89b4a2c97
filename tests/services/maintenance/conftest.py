"""One API server for all tests of the service."""

from collections.abc import Iterator

import pytest

from fleet.model import Maintenance
from tests.support.apiserver import server

from .bed import Bed


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    made = tmp_path_factory.mktemp("maintenance")
    with server(made, controllers=False) as kube:
        yield Bed(kube, made, Maintenance())


@pytest.fixture
def bed(cluster: Bed) -> Bed:
    cluster.clear()
    return cluster
