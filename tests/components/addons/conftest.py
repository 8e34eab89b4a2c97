"""One API server for all tests here, with the example's add-ons in it and the daemon sets' controller beside it."""

from collections.abc import Iterator

import pytest

from components.addons.spec import AddOnsSpec
from tests.components.addons import bed
from tests.local.providers.kubernetes.conftest import provider_host  # noqa: F401
from tests.support.apiserver import Server, server


@pytest.fixture(scope="session")
def example() -> AddOnsSpec:
    return bed.spec()


@pytest.fixture(scope="session")
def kube(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Server]:
    """Services' addresses are those of the plan, as the manifests name some of them."""
    with server(tmp_path_factory.mktemp("addons"), services_cidr=example.cluster.services_cidr) as made:
        yield made


@pytest.fixture(scope="session")
def installed(kube: Server, example: AddOnsSpec) -> Server:
    apply = bed.Applying(kube)
    for manifest in bed.every(example):
        apply(manifest)
    return kube
