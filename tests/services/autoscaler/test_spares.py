"""Warm spares with the real autoscaler and scheduler: work starts on one at once, and the next is bought."""

from collections.abc import Iterator

import pytest

from components.addons import priorities, spares, tolerations
from components.pools import labels
from tests.components.addons import bed as add_ons
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import Autoscaled, autoscaled

pytestmark = pytest.mark.timeout(900)
LONG = 240
SPARES = "/api/v1/namespaces/kube-system/pods"
DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/spare-west-gpu"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    with autoscaled(tmp_path_factory.mktemp("spares"), site=1) as made:
        spec = add_ons.with_spares(add_ons.spec(), west_gpu=1)
        apply = add_ons.Applying(made.kube)
        for manifest in (*priorities.manifests(spec), *tolerations.manifests(spec), *spares.manifests(spec)):
            apply(manifest)
        yield made


def held(one: Autoscaled) -> list[str]:
    """Machines that spares hold."""
    found = one.api.call("GET", SPARES, {"labelSelector": "app.kubernetes.io/name=spares"})["items"]
    return [pod["spec"]["nodeName"] for pod in found if pod["status"].get("phase") == "Running"]


def test_work_starts_on_a_spare_at_once_and_the_next_is_bought(one: Autoscaled) -> None:
    eventually(lambda: held(one), LONG)
    (spare,) = held(one)
    assert one.launched()["us-west-2"] == 1
    one.booting = True
    # One pod stands at the site, and the other has the spare's place though no machine comes.
    one.job("work", 2)
    eventually(lambda: one.running("work") == 2, LONG)
    assert spare in {pod["spec"]["nodeName"] for pod in one.pods("work")}
    eventually(lambda: one.launched()["us-west-2"] == 2, LONG)
    one.booting = False
    eventually(lambda: held(one), LONG)
    assert held(one) != [spare]
    assert one.launched() == {"us-west-2": 2, "us-east-1": 0, "eu-west-1": 0}


def test_when_the_work_has_ended_as_many_stay_as_are_wanted_and_none_without(one: Autoscaled) -> None:
    one.end("work")
    eventually(lambda: one.live("us-west-2") == 1, LONG)
    assert held(one)
    one.kube.patch(DEPLOYMENT, {"spec": {"replicas": 0}})
    eventually(lambda: one.live("us-west-2") == 0, LONG)
    eventually(lambda: not any(node["metadata"]["labels"][labels.POOL] == "west-gpu" for node in one.nodes()))
