"""`landbridge demo burst`, smaller: the command itself, with the real autoscaler, our service and both local clouds."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.addons import tolerations
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.azure.cloud import Azure
from landbridge.clouds.cloud import Cloud
from landbridge.cluster import freeze
from landbridge.cluster import session as sessions
from landbridge.commands.demo import demo
from landbridge.demo import shortage
from landbridge.errors import LandbridgeError, UsageError
from tests.components.addons import bed as add_ons
from tests.landbridge.pool.bed import Here
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.services.autoscaler.autoscaled import JOBS, Autoscaled, autoscaled
from tests.services.autoscaler.azure.side import REGION

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    back = {"initial_node_group_backoff_duration": "20s", "max_node_group_backoff_duration": "40s"}
    with autoscaled(tmp_path_factory.mktemp("demo"), azure=True, **back) as made:
        # GPU pods tolerate GPU machines by admission, as in a cluster with its add-ons.
        apply = add_ons.Applying(made.kube)
        for manifest in tolerations.manifests(add_ons.spec()):
            apply(manifest)
        yield made


class Both(Here):
    """With a region of Azure besides."""

    def __init__(self, one: Autoscaled, azure: LocalAzure) -> None:
        super().__init__(one.world, one.cloud.endpoint, one.kube.kubeconfig())
        clients = Clients(SUBSCRIPTION, transport=azure.transport())
        clients.__dict__["credential"] = azure.credential()
        self.azure = Azure(clients, one.world.fleet, REGION, lambda *_: None)

    def cloud_at(self, region: str, *, hasty: bool = False) -> Cloud:
        return self.azure if region == REGION else super().cloud_at(region, hasty=hasty)


@pytest.fixture(autouse=True)
def here(one: Autoscaled, monkeypatch: pytest.MonkeyPatch) -> Here:
    assert one.cloud.azure
    azure = one.cloud.azure.azure
    made = Both(one, azure)
    monkeypatch.setattr(sessions, "opened", lambda *_, **__: made)
    monkeypatch.setattr(shortage, "AWS_URL", one.cloud.endpoint)
    monkeypatch.setattr(shortage, "AZURE_URL", f"http://127.0.0.1:{azure.port}")
    return made


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = demo.main(["burst", "--local", "--json", *words], standalone_mode=False)
    told = capsys.readouterr()
    return int(code or 0), json.loads(told.out), told.err


def test_what_can_not_be_is_refused_before_anything_is_begun(
    one: Autoscaled, here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="must be a multiple of 8"):
        run(capsys, "--gpus", "12")
    with pytest.raises(UsageError, match="main has room for 3264 GPUs now, not for 80000: site-gpu 64, west-gpu 320"):
        run(capsys, "--gpus", "80000")
    freeze.freeze(here.admin, "the room moves")
    with pytest.raises(LandbridgeError, match=r"frozen since .*: the room moves, so what a burst buys would stay"):
        run(capsys)
    freeze.release(here.admin)
    assert one.api.call("GET", JOBS)["items"] == []
    assert sum(one.launched().values()) == 0


def test_the_site_fills_up_first_what_is_missing_is_bought_once_and_all_is_given_back(
    one: Autoscaled, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told, lines = run(capsys, "--gpus", "88", "--timeout", "300", "--no-short")
    assert code == 0
    assert told["machines_launched"] == 3 == one.launched()["us-west-2"]
    pools = {pool["pool"]: pool for pool in told["pools"]}
    assert {name: pool["gpus"] for name, pool in pools.items()} == {
        "site-gpu": 64,
        "west-gpu": 24,
        "east-gpu": 0,
        "eu-gpu": 0,
        "south-gpu": 0,
    }
    assert pools["site-gpu"]["most"] < pools["west-gpu"]["asked"] <= pools["west-gpu"]["first"]
    assert pools["east-gpu"]["asked"] is None
    assert told["all_at_work_seconds"] <= told["job_ended_seconds"] < told["given_back_seconds"]
    assert "west-gpu: 24 of 24 GPUs at work, 3 machines, 3 Ready" in lines
    assert one.api.call("GET", JOBS)["items"] == [], "the Job is gone"
    assert one.live("us-west-2") == 0


def test_what_does_not_come_in_time_is_told_pool_by_pool_and_the_job_is_ended(
    one: Autoscaled, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LandbridgeError) as caught:
        run(capsys, "--gpus", "72", "--timeout", "5", "--no-short")
    text = str(caught.value)
    assert text.startswith("After 5 s 64 of 72 GPUs are at work; the Job is ended.")
    assert "  site-gpu: 8 machines asked for, 8 Ready, 64 GPUs at work" in text
    assert one.api.call("GET", JOBS)["items"] == []


def at_work(told: Any) -> dict[str, int]:
    return {pool["pool"]: pool["gpus"] for pool in told["pools"] if pool["gpus"]}


def test_a_region_that_runs_out_of_hardware_is_helped_by_the_next_one_and_has_it_again_afterwards(
    one: Autoscaled, capsys: pytest.CaptureFixture[str]
) -> None:
    before = one.launched()
    code, told, lines = run(capsys, "--gpus", "88", "--timeout", "500")
    assert (code, told["hardware"]) == (0, {"west-gpu": 1})
    assert at_work(told) == {"site-gpu": 64, "west-gpu": 8, "east-gpu": 16}
    assert one.launched() == {**before, "us-west-2": before["us-west-2"] + 1, "us-east-1": before["us-east-1"] + 2}
    assert "west-gpu: 8 of 8 GPUs at work" in lines
    assert one.cloud.own("faults") == []


def test_where_no_region_of_aws_has_any_the_one_in_azure_helps(
    one: Autoscaled, capsys: pytest.CaptureFixture[str]
) -> None:
    before, regions = one.launched(), ("us-west-2", "us-east-1", "eu-west-1")
    one.cloud.own("faults", [{"region": name, "instance_type": "p5.48xlarge", "capacity": 0} for name in regions])
    try:
        code, told, _ = run(capsys, "--gpus", "80", "--timeout", "500", "--no-short")
    finally:
        one.cloud.own("faults", [])
    assert (code, told["machines_launched"]) == (0, 2)
    assert at_work(told) == {"site-gpu": 64, "south-gpu": 16}
    assert one.launched() == {**before, REGION: before[REGION] + 2}
    assert one.live(REGION) == 0
