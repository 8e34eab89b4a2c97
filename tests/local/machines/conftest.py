"""A host for machines, and a machine that tests of units share."""

from collections.abc import Iterator

import pytest

from local import namespace

from .azure.inside import azurelet
from .host import Box, Host
from .inside import Inside, fleetlet


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    made = Host(tmp_path_factory.mktemp("machines"), ["unshare", *namespace.usable_mode().make])
    yield made
    made.close()


@pytest.fixture(scope="package")
def shared(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Box:
    return host.machine("units", "10.132.0.100/20", users=["builder", "crew"])


@pytest.fixture
def box(shared: Box) -> Box:
    shared.clear()
    return shared


@pytest.fixture(scope="package")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    made = fleetlet(tmp_path_factory.mktemp("service") / "local")
    yield made
    made.close()


@pytest.fixture(scope="package")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    made = azurelet(tmp_path_factory.mktemp("azure") / "local")
    yield made
    made.close()
