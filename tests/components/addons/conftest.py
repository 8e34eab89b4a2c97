"""One API server for all tests here, with the example's add-ons in it and the daemon sets' controller beside it."""

from collections.abc import Iterator

import pytest

from components.addons.spec import AddOnsSpec
from tests.components.addons import bed, cloud
from tests.local.aws.conftest import clients, served
from tests.local.providers.kubernetes.conftest import provider_host  # noqa: F401
from tests.support.apiserver import Server, server


@pytest.fixture(scope="package")
def example() -> AddOnsSpec:
    return bed.with_queues(bed.spec())


@pytest.fixture(scope="package")
def kube(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Server]:
    """Services' addresses are those of the plan, as the manifests name some of them; tokens are the example's."""
    given = {"services_cidr": example.cluster.services_cidr, "issuer": example.cluster.issuer}
    with server(tmp_path_factory.mktemp("addons"), **given) as made:
        yield made


@pytest.fixture(scope="package")
def installed(kube: Server, example: AddOnsSpec) -> Server:
    apply = bed.Applying(kube)
    for manifest in bed.every(example):
        apply(manifest)
    return kube


@pytest.fixture(scope="package")
def endpoint() -> Iterator[str]:
    yield from served()


@pytest.fixture(scope="package")
def root(endpoint: str, installed: Server, example: AddOnsSpec) -> cloud.Client:
    """Root's clients of a local AWS that trusts the example's cluster."""
    make = clients(endpoint)
    cloud.publish(make, installed, example.fleet)
    return make
