"""A dry run with the real autoscaler: it decides, and by the cloud's own ledger nothing was bought and nothing ended."""

from collections.abc import Iterator

import grpc
import pytest

from components.addons.autoscaler_flags import DRY_RUN
from components.pools import labels
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import Autoscaled, autoscaled

pytestmark = pytest.mark.timeout(900)
WEST, LONG = "example-west-gpu-a", 240
STATUS = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    flags = {name.replace("-", "_"): flag.value for name, flag in DRY_RUN.items()}
    with autoscaled(tmp_path_factory.mktemp("rehearsal"), words=["--dry-run"], **flags) as made:
        yield made


def status(one: Autoscaled) -> str:
    """As the autoscaler writes it in each pass, with the time."""
    return str((one.kube.find(STATUS) or {}).get("data"))


def test_what_pods_wait_for_is_decided_once_and_asked_of_nobody(one: Autoscaled) -> None:
    one.job("waits", 10)
    eventually(lambda: one.said("grow"), LONG)
    grown = one.said("grow")[0]
    assert (grown["group"], grown["machines"], grown["dry_run"]) == (WEST, 2, True)
    eventually(lambda: one.service.target(WEST) == 2)
    assert one.cloud.group(WEST, "us-west-2")["DesiredCapacity"] == 0
    decided = len(one.service.decisions)
    for _ in range(3):
        before = status(one)
        eventually(lambda before=before: status(one) != before, LONG)
    assert (len(one.service.decisions), one.running("waits")) == (decided, 8), "its machines count as coming"
    assert sum(one.launched().values()) == 0
    one.end("waits")


def test_what_was_wished_for_can_be_given_up(one: Autoscaled) -> None:
    target = one.service.target(WEST)
    one.service.ask("NodeGroupIncreaseSize", id=WEST, delta=3)
    eventually(lambda: one.service.target(WEST) == target + 3)
    one.service.ask("NodeGroupDecreaseTargetSize", id=WEST, delta=-3)
    eventually(lambda: one.service.target(WEST) == target)
    assert one.cloud.group(WEST, "us-west-2")["DesiredCapacity"] == 0


def test_an_idle_machine_is_counted_and_stays_as_it_is(one: Autoscaled) -> None:
    scaling = one.cloud.client("autoscaling", "us-east-1")
    scaling.set_desired_capacity(AutoScalingGroupName="example-east-gpu-a", DesiredCapacity=1)
    eventually(lambda: any(node["metadata"]["name"] in one.joined for node in one.nodes()), LONG)
    (machine,) = one.joined
    eventually(lambda: "candidates: 1" in status(one), LONG)
    with pytest.raises(grpc.RpcError) as caught:
        one.service.delete("example-east-gpu-a", [f"aws:///us-east-1a/{machine}"])
    assert f"dry-run: {machine} would end now" in str(caught.value.details())
    (node,) = [node for node in one.nodes() if node["metadata"]["name"] == machine]
    pool = {taint.key for taint in (labels.GPU_TAINT, labels.GPU_STARTING)}
    assert {taint["key"] for taint in node["spec"].get("taints", ())} <= pool, "no taint of the autoscaler's"
    assert one.live("us-east-1") == 1
