"""Of machines whose nodes fell silent or went EC2 is asked, once for many, until there is no more to say."""

from collections.abc import Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from evidence.observation import Observation
from services.recorder.aws.machines import Region
from services.recorder.book import Book
from services.recorder.errors import CloudError
from services.recorder.machines import ASKED_SECONDS, Machines

AT = 1795860000.0
SILENT = Observation(AT, "node controller", "node/gpu-1", "node-silent")


def node(name: str, machine: str = "i-1", zone: str = "us-west-2a") -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": name}, "spec": {"providerID": f"aws:///{zone}/{machine}"}}


class Cloud:
    """Its answers, and what it was asked."""

    def __init__(self, region: str) -> None:
        self.region, self.asked = region, list[dict[str, str]]()
        self.down: set[str] = set()
        self.away = False

    def ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        self.asked.append(dict(nodes))
        if self.away:
            raise CloudError(f"{self.region}: it does not answer")
        seen = [Observation(now, "EC2", f"node/{nodes[one]}", "machine-ended") for one in sorted(self.down & {*nodes})]
        return seen, self.down & {*nodes}


@pytest.fixture
def bed() -> tuple[Machines, dict[str, Cloud], Book]:
    clouds: dict[str, Cloud] = {}
    book = Book()

    def opened(region: str) -> Cloud:
        return clouds.setdefault(region, Cloud(region))

    return Machines(book, ["us-west-2", "us-east-1"], opened, lambda: AT), clouds, book


def test_only_those_that_are_silent_or_gone_are_asked_for_in_one_call_a_region(bed: Any) -> None:
    found, clouds, book = bed
    found.node(node("well"), [])
    found.node(node("gpu-1", "i-1"), [SILENT])
    found.left(node("gpu-2", "i-2"))
    found.left(node("gpu-3", "i-3", "us-east-1b"))
    found.left(node("host-1.lab", "x", "lab") | {"spec": {"providerID": "site://lab/host-1"}})
    found.left(node("gpu-4", "i-4", "ap-south-1a"))
    found.step(AT)
    assert {name: one.asked for name, one in clouds.items()} == {
        "us-west-2": [{"i-1": "gpu-1", "i-2": "gpu-2"}],
        "us-east-1": [{"i-3": "gpu-3"}],
    }
    assert book.take().seen == []


def test_one_is_asked_for_until_it_is_down_or_half_an_hour_has_passed(bed: Any) -> None:
    found, clouds, book = bed
    for number in (1, 2):
        found.left(node(f"gpu-{number}", f"i-{number}"))
    found.step(AT)
    clouds["us-west-2"].down = {"i-1"}
    found.step(AT + 60)
    found.step(AT + 120)
    found.step(AT + ASKED_SECONDS)
    assert [sorted(one) for one in clouds["us-west-2"].asked] == [["i-1", "i-2"], ["i-1", "i-2"], ["i-2"]]
    assert [one.about for one in book.take().seen] == ["node/gpu-1"]


def test_a_region_that_is_away_holds_up_no_other(bed: Any) -> None:
    found, clouds, book = bed
    for machine, zone in (("i-1", "us-west-2a"), ("i-3", "us-east-1b")):
        found.left(node(f"node-{machine}", machine, zone))
    found.step(AT)
    clouds["us-west-2"].away, clouds["us-east-1"].down = True, {"i-3"}
    with pytest.raises(CloudError, match="us-west-2: it does not answer"):
        found.step(AT + 60)
    assert [one.about for one in book.take().seen] == ["node/node-i-3"]
    clouds["us-west-2"].away, clouds["us-west-2"].down = False, {"i-1"}
    found.step(AT + 120)
    assert [one.about for one in book.take().seen] == ["node/node-i-1"]


def test_a_machine_in_azure_is_asked_for_in_its_resource_group_and_in_no_other() -> None:
    clouds: dict[str, Cloud] = {}
    mine, other = (f"/subscriptions/s/resourceGroups/{name}" for name in ("fleet-south", "another"))
    found = Machines(Book(), [mine], lambda place: clouds.setdefault(place, Cloud(place)), lambda: AT)
    # The node has its id as its machine was told it, in whatever letters.
    for place in (mine.upper(), other):
        machine = f"{place}/providers/Microsoft.Compute/virtualMachineScaleSets/gpu/virtualMachines/3"
        found.left({"metadata": {"name": "gpu-3"}, "spec": {"providerID": f"azure://{machine}"}})
    found.step(AT)
    assert [*clouds] == [mine]
    ((asked,),) = (one.asked for one in clouds.values())
    assert asked == {
        f"{mine.upper()}/providers/Microsoft.Compute/virtualMachineScaleSets/gpu/virtualMachines/3": "gpu-3"
    }


@mock_aws
def test_ec2_s_own_answers_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    ec2 = boto3.client("ec2", region_name="us-west-2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    one, two = [each["InstanceId"] for each in ec2.run_instances(ImageId=image, MinCount=2, MaxCount=2)["Instances"]]
    nodes = {one: "gpu-1", two: "gpu-2", "i-0123456789abcdef0": "gpu-3"}
    region = Region("us-west-2")
    assert region.ask(nodes, AT) == ([], {"i-0123456789abcdef0"}), "it has forgotten that one"
    ec2.terminate_instances(InstanceIds=[one])
    seen, done = region.ask(nodes, AT)
    assert done == {one, "i-0123456789abcdef0"}
    assert [(each.about, each.code, each.facts) for each in seen] == [("node/gpu-1", "machine-ended", {"machine": one})]
    assert "User initiated" in seen[0].text


@mock_aws
def test_more_machines_than_a_filter_takes_are_all_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    ec2 = boto3.client("ec2", region_name="us-west-2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    made = ec2.run_instances(ImageId=image, MinCount=5, MaxCount=5)["Instances"]
    names = [one["InstanceId"] for one in made]
    monkeypatch.setattr("services.recorder.aws.machines.AT_ONCE", 2)
    ec2.terminate_instances(InstanceIds=names)
    seen, done = Region("us-west-2").ask({name: f"node-{name}" for name in names}, AT)
    assert done == {*names}
    assert {one.about for one in seen} == {f"node/node-{name}" for name in names}
