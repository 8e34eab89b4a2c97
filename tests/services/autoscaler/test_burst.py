"""1,600 GPUs at once, with the real Cluster Autoscaler: what was bought, by the cloud's own ledger."""

import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import Autoscaled, autoscaled, timeline

# Minutes on a busy machine: the local AWS launches by and by.
pytestmark = pytest.mark.timeout(1500)
LONG = 600


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    # By themselves ten a time; the service lets a tenth go.
    more, folder = {"max_scale_down_parallelism": "19"}, tmp_path_factory.mktemp("burst")
    # So that the last pool, in another cloud, gets its part of a burst that a computer can play.
    with autoscaled(folder, most={"eu_gpu": 60}, azure=True, **more) as made:
        yield made


def test_a_burst_buys_what_is_missing_once_and_gives_it_back(one: Autoscaled) -> None:
    # A pass that meets half of the pods buys for half of them: on a busy machine they take longer than its patience.
    one.kube.end("cluster-autoscaler")
    # Nor does any real machine boot while the next region is asked: pods that are just placed count here and there.
    one.booting = True
    began = time.time()
    one.job("burst", 200)
    eventually(lambda: len(one.pods("burst")) == 200, LONG)
    one.scale()
    eventually(lambda: sum(told["machines"] for told in one.said("grow")) == 192, LONG)
    one.booting = False
    eventually(lambda: one.running("burst") == 200, LONG)
    sys.stdout.write("\n".join([*timeline(one, began), f"{time.time() - began:6.1f} s  all pods run", ""]))
    # Eight stand at the site; then by the order of the pools: west to its 40, east and eu to their 60, Azure the rest.
    assert one.launched() == {"us-west-2": 40, "us-east-1": 60, "eu-west-1": 60, "southcentralus": 32}
    grown = sum((Counter({told["group"]: told["machines"]}) for told in one.said("grow")), Counter[str]())
    in_azure = next(iter(grown.keys() & {"example-south-gpu-1", "example-south-gpu-2"}))
    aws = {"example-west-gpu-a": 40, "example-east-gpu-a": 60, "example-eu-gpu-a": 60}
    assert grown == {**aws, in_azure: 32}
    assert len(one.said("grow")) == 4, "one change of size for each scaling group"
    one.end("burst")
    ended = time.time()
    eventually(lambda: not any(one.live(region) for region in one.told["region_clouds"]), LONG)
    sys.stdout.write(f"{time.time() - ended:6.1f} s  all given back\n")
    assert sum(one.launched().values()) == 192, "and nothing was launched since"
