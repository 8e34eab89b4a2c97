"""The service as the autoscaler meets it: its program, by mutual TLS, before the local AWS."""

import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from components.pools import node_template
from components.pools.spec import pool_spec
from services.autoscaler.__main__ import LOOK_SECONDS
from services.autoscaler.protocol import messages
from services.azure import identity as azure_identity
from tests.components.pools.joining_client import eventually
from tests.local.aws.conftest import served
from tests.services.autoscaler import bed
from tests.services.autoscaler.bed import Cloud, Serving

WEST, EAST, EU = "example-west-gpu-a", "example-east-gpu-a", "example-eu-gpu-a"


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    for endpoint in served():
        made = bed.cloud(endpoint)
        world = bed.example()
        bed.lay(made, world, bed.settings(world))
        yield made


@pytest.fixture(scope="module")
def service(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with bed.serving(tmp_path_factory.mktemp("service"), cloud, bed.settings(bed.example())) as one:
        yield one


@pytest.fixture(autouse=True)
def fresh(cloud: Cloud, service: Serving) -> Iterator[None]:
    service.ask("Refresh")
    yield
    cloud.own("faults", [])


def refused(call: Any, *args: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        call(*args)
    return raised.value.code(), raised.value.details()


def grow(service: Serving, group: str, by: int) -> None:
    service.ask("NodeGroupIncreaseSize", id=group, delta=by)


def running(service: Serving, group: str) -> list[str]:
    return [
        one.id for one in service.nodes(group) if not one.status.HasField("errorInfo") and one.status.instanceState == 1
    ]


def test_every_scaling_group_is_a_node_group(service: Serving) -> None:
    found = {one.id: (one.minSize, one.maxSize) for one in service.ask("NodeGroups").nodeGroups}
    assert found[WEST] == (0, 40)
    assert found["example-eu-gpu-b"] == (0, 200)
    assert len(found) == 3 + 2 + 2 + 1 + 2


def test_both_encodings_of_a_template_say_what_the_pool_says(service: Serving) -> None:
    world = bed.example()
    said = node_template.template(pool_spec(world.fleet, world.plan, "west-gpu"), "us-west-2a")
    told = service.ask("NodeGroupTemplateNodeInfo", id=WEST)
    assert told.nodeInfo == messages.Node.FromString(told.nodeBytes)
    assert dict(told.nodeInfo.metadata.labels) == said["metadata"]["labels"]
    got = {name: amount.string for name, amount in told.nodeInfo.status.allocatable.items()}
    assert got == said["status"]["allocatable"]
    assert [one.key for one in told.nodeInfo.spec.taints] == [one["key"] for one in said["spec"]["taints"]]


@pytest.mark.parametrize("provider", ["", "onprem://lab/host-1", "azure:///x", "aws:///us-west-2a/i-0123456789abcdef0"])
def test_a_node_of_nobody_s_is_no_group_s(service: Serving, provider: str) -> None:
    node = messages.AskedNode(providerID=provider, name="n")
    assert service.ask("NodeGroupForNode", node=node).nodeGroup.id == ""


def test_who_has_not_the_pair_is_not_heard(service: Serving) -> None:
    authority = (service.folder / "ca.crt").read_bytes()
    for credentials in (grpc.ssl_channel_credentials(authority), None):
        address = f"127.0.0.1:{service.port}"
        channel = grpc.secure_channel(address, credentials) if credentials else grpc.insecure_channel(address)
        with channel, pytest.raises(grpc.FutureTimeoutError):
            grpc.channel_ready_future(channel).result(2)


def test_machines_come_and_go(cloud: Cloud, service: Serving) -> None:
    grow(service, EAST, 2)
    assert service.target(EAST) == 2
    first, second = eventually(lambda: (found := running(service, EAST)) and len(found) == 2 and found)
    node = messages.AskedNode(providerID=first, name="n")
    found = service.ask("NodeGroupForNode", node=node).nodeGroup
    assert (found.id, found.debug) == (EAST, f"{EAST}: 2 live, 0 owed, 0 refused")
    assert first.startswith("aws:///us-east-1a/i-")
    service.delete(EAST, [first])
    assert service.target(EAST) == 1
    assert cloud.group(EAST, "us-east-1")["DesiredCapacity"] == 1
    service.ask("Refresh")
    node = messages.AskedNode(providerID=second, name="n")
    assert service.ask("NodeGroupForNode", node=node).nodeGroup.debug.startswith(f"{EAST}: 1 live"), "a new pass"
    service.delete(EAST, [second])
    eventually(lambda: not cloud.group(EAST, "us-east-1")["Instances"])
    assert service.target(EAST) == 0


def test_refused_machines_are_placeholders_until_they_are_deleted(cloud: Cloud, service: Serving) -> None:
    cloud.own("faults", [{"region": "us-west-2", "instance_type": "p5.48xlarge", "capacity": 2}])
    grow(service, WEST, 5)
    placeholders = eventually(lambda: [one for one in service.nodes(WEST) if one.status.HasField("errorInfo")])
    assert {(one.status.errorInfo.errorCode, one.status.errorInfo.instanceErrorClass) for one in placeholders} == {
        ("capacity", 1)
    }
    assert (len(placeholders), service.target(WEST)) == (3, 5)
    # Or the cloud would buy here what another region has bought by then.
    eventually(lambda: cloud.group(WEST, "us-west-2")["DesiredCapacity"] == 2)
    service.delete(WEST, [one.id for one in placeholders])
    assert service.target(WEST) == 2
    (told,) = [one for one in service.decisions if one["decision"] == "refused"]
    assert (told["group"], told["machines"], told["code"]) == (WEST, 3, "capacity")
    for one in running(service, WEST):
        service.ask("Refresh")
        service.delete(WEST, [one])


def test_what_no_limit_allows_is_not_asked_for(cloud: Cloud, service: Serving) -> None:
    code, why = refused(grow, service, WEST, 41)
    assert (code, why.split(":")[0]) == (grpc.StatusCode.FAILED_PRECONDITION, "group-maximum")
    grow(service, WEST, 1)
    sizes = {one.id: one.maxSize for one in service.ask("NodeGroups").nodeGroups}
    assert (sizes[WEST], sizes["example-west-gpu-b"]) == (40, 39), "its pool has 40 over all zones"
    eventually(lambda: running(service, WEST))
    service.delete(WEST, running(service, WEST))


def test_a_region_that_is_out_leaves_the_others_as_they_are(cloud: Cloud, service: Serving) -> None:
    cloud.own("faults", [{"kind": "outage", "region": "eu-west-1"}])
    code, why = refused(grow, service, EU, 1)
    assert code == grpc.StatusCode.UNAVAILABLE
    assert why.startswith("eu-west-1: SetDesiredCapacity:")
    assert service.target(EU) == 0, "what could not be told is not wanted"
    grow(service, EAST, 1)
    service.delete(EAST, eventually(lambda: running(service, EAST)))
    cloud.own("faults", [])
    assert cloud.group(EU, "eu-west-1")["DesiredCapacity"] == 0


def test_what_the_cloud_has_heard_is_bought_although_its_answer_was_lost(cloud: Cloud, service: Serving) -> None:
    cloud.own("faults", [{"kind": "lost", "calls": 1, "operation": "SetDesiredCapacity"}])
    group = "example-west-gpu-b"
    grow(service, group, 2)
    assert cloud.own("faults") == []
    assert service.target(group) == 2
    eventually(lambda: len(running(service, group)) == 2)


def test_a_tenth_goes_in_one_pass_and_no_more(service: Serving) -> None:
    grow(service, EU, 20)
    known = eventually(lambda: (found := running(service, EU)) and len(found) == 20 and found)
    service.ask("Refresh")
    code, why = refused(service.delete, EU, known[:3])
    assert (code, why.split(":")[0]) == (grpc.StatusCode.FAILED_PRECONDITION, "too-many-at-once")
    assert service.target(EU) == 18, "two of the three went"
    assert refused(service.delete, EU, known[2:3])[0] == grpc.StatusCode.FAILED_PRECONDITION
    service.ask("Refresh")
    service.delete(EU, known[2:3])
    assert service.target(EU) == 17
    eventually(lambda: len(running(service, EU)) == 17)
    service.ask("Refresh")
    service.delete(EU, known[3:5])  # two of seventeen: there were twenty a moment ago


def test_while_all_is_frozen_no_machine_goes_and_machines_still_come(service: Serving) -> None:
    grow(service, EAST, 1)
    (one,) = eventually(lambda: running(service, EAST))
    freeze = service.folder / "freeze"
    freeze.mkdir()
    (freeze / "why").write_text("etcd was restored")
    (freeze / "since").write_text("2026-11-22T12:00:00+00:00")
    code, why = refused(service.delete, EAST, [one])
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert why == "frozen: etcd was restored, since 2026-11-22T12:00:00+00:00"
    grow(service, EAST, 1)
    for file in freeze.iterdir():
        file.unlink()
    service.delete(EAST, [one])
    service.ask("Refresh")
    service.delete(EAST, eventually(lambda: running(service, EAST)))


def test_it_counts_its_answers_and_its_calls(service: Serving) -> None:
    page = urllib.request.urlopen(f"http://127.0.0.1:{service.metrics_port}/metrics", timeout=30).read().decode()
    found = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in page.splitlines() if line[0] != "#"}
    assert found['landbridge_autoscaler_rpc_seconds_count{rpc="Refresh"}'] >= 1
    calls = "landbridge_autoscaler_cloud_calls_total"
    assert found[f'{calls}{{operation="DescribeAutoScalingGroups",outcome="ok",region="us-west-2"}}'] >= 1
    assert 'landbridge_autoscaler_machines{group="example-west-gpu-a",state="live"}' in found
    assert found['landbridge_autoscaler_region_seen_seconds{region="eu-west-1"}'] > 0


def test_a_group_that_is_not_there(service: Serving) -> None:
    code, why = refused(service.target, "example-none")
    assert (code, why) == (grpc.StatusCode.NOT_FOUND, "no group 'example-none'")
    with pytest.raises(grpc.RpcError, match="not in example-west-gpu-a"):
        service.delete(WEST, ["aws:///us-west-2a/i-0123456789abcdef0"])


def test_it_begins_anew_when_its_identity_in_azure_is_another(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(azure_identity.VARIABLE, "one")
    (file := tmp_path / "client-id").write_text("one\n")
    one = Serving(tmp_path / "service", cloud, bed.settings(bed.example()), words=[f"--identity={file}"])
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            one.process.wait(LOOK_SECONDS + 5)
        file.write_text("another\n")
        assert one.process.wait(60) == 0
        assert "its identity in Azure is another now" in (one.folder / "service.log").read_text()
    finally:
        one.stop()


@pytest.mark.parametrize(
    ("laid", "known", "found"),
    [("one\n", "one", False), ("two", "one", True), ("", "one", False), (None, "one", False), ("one", None, True)],
)
def test_an_identity_is_another_when_its_file_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, laid: str | None, known: str | None, found: bool
) -> None:
    monkeypatch.delenv(azure_identity.VARIABLE, raising=False)
    if known is not None:
        monkeypatch.setenv(azure_identity.VARIABLE, known)
    if laid is not None:
        (tmp_path / "client-id").write_text(laid)
    assert azure_identity.replaced(tmp_path / "client-id") is found
    assert azure_identity.replaced(None) is False
