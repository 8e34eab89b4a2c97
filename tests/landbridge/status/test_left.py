"""What a look at drift leaves in fleet buckets, on both local clouds: who is told of what, and what goes again."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from fleet import fleet_metrics
from fleet.buckets import bucket_name
from fleet.model import Fleet
from fleet.monitoring_model import Monitoring
from landbridge.clouds.aws.cloud import S3
from landbridge.clouds.azure.blobs import Blobs
from landbridge.engine.stack_report import StackReport
from landbridge.status import left
from landbridge.status.stacks import Looked, StackStatus
from services.fleet_metrics import drift
from services.fleet_metrics.metrics import Look
from services.fleet_metrics.settings import Drift
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.local.aws.conftest import clients, served
from tests.local.aws.support import with_keys
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.support import LocalAzure

WEST, SOUTH = "us-west-2", "southcentralus"
AT = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
FOUND = {
    WEST: ["ec2.Subnet private-a differs in tags"],
    SOUTH: [],
    "main": [],
    "south-addons": ["a", "b"],
    "links": None,
}
TRUST = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
Opened = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    yield from served()


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    """Its cluster main is at home in AWS, south in Azure."""
    return bed.both().fleet.model_copy(update={"monitoring": Monitoring()})


@pytest.fixture
def s3(endpoint: str, fleet: Fleet) -> Iterator[Any]:
    made, name = clients(endpoint)("s3", WEST), bucket_name(fleet, WEST)
    made.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": WEST})
    yield made
    for one in made.list_objects_v2(Bucket=name).get("Contents", []):
        made.delete_object(Bucket=name, Key=one["Key"])
    made.delete_bucket(Bucket=name)


@pytest.fixture
def opened(s3: Any, azure: LocalAzure, group: str) -> Opened:  # noqa: F811
    """Both buckets, as somebody who may write there what looks leave."""
    container = stored.container(azure, group, "", ())

    def bucket(region: str, name: str) -> Any:
        return S3(s3, None, name) if region == WEST else blobs(container, name)

    return bucket


def blobs(container: Any, name: str) -> Blobs:
    clients: Any = SimpleNamespace(blobs=lambda _: SimpleNamespace(get_container_client=lambda _: container))
    return Blobs(clients, name)


def told(fleet: Fleet, opened: Opened, cluster: str) -> dict[str, tuple[float, int]]:
    """By stacks, as the cluster's fleet metrics read it."""
    region, folder = fleet.clusters[cluster].region, fleet_metrics.looked_at(cluster)
    bucket = opened(region, bucket_name(fleet, region))
    found = drift.looks(lambda prefix: [one.key for one in bucket.listed(prefix)], Drift(region, "", folder))
    return {stack: look for (stack,), look in found.items()}


def test_each_cluster_is_told_of_its_own_stacks_and_of_those_that_no_cluster_owns(fleet: Fleet, opened: Opened) -> None:
    assert left.leave(fleet, FOUND, opened, AT, whole=True) == []
    at, shared = AT.timestamp(), {WEST: Look(AT.timestamp(), 1), SOUTH: Look(AT.timestamp(), 0)}
    assert told(fleet, opened, "main") == {**shared, "main": Look(at, 0)}
    assert told(fleet, opened, "south") == {**shared, "south-addons": Look(at, 2)}
    kept = opened(WEST, bucket_name(fleet, WEST)).read(left.key("main", WEST, 1, AT))
    assert json.loads(kept) == {"differs": FOUND[WEST]}


def test_a_few_looks_are_kept_and_nothing_of_stacks_that_are_gone(fleet: Fleet, opened: Opened) -> None:
    nights = [AT + timedelta(days=night) for night in range(left.KEPT + 2)]
    for count, night in enumerate(nights):
        left.leave(fleet, {WEST: ["a"] * count, "south-addons": []}, opened, night, whole=True)
    bucket, folder = opened(SOUTH, bucket_name(fleet, SOUTH)), fleet_metrics.looked_at("south")
    there = sorted(one.key for one in bucket.listed(f"{folder}{WEST}/"))
    assert there == [left.key("south", WEST, n, nights[n]) for n in range(2, left.KEPT + 2)]
    last = nights[-1]
    left.leave(fleet, {SOUTH: []}, opened, last, whole=False)
    assert told(fleet, opened, "south").keys() == {WEST, SOUTH, "south-addons"}, "who looks at one knows of no other"
    left.leave(fleet, {SOUTH: [], "south-addons": None}, opened, last, whole=True)
    looked = Look(last.timestamp(), 0)
    assert told(fleet, opened, "south") == {SOUTH: looked, "south-addons": looked}, "what was not asked may be there"


def test_who_may_not_write_there_is_told_so_and_others_are_told_all_the_same(
    fleet: Fleet, endpoint: str, opened: Opened
) -> None:
    make, name = clients(endpoint), bucket_name(fleet, WEST)
    trust = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
    arn = make("iam").create_role(RoleName="looks-only", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    keys = make("sts").assume_role(RoleArn=arn, RoleSessionName="person")["Credentials"]
    person = with_keys(endpoint, keys, "s3", WEST)

    def bucket(region: str, name: str) -> Any:
        return S3(person, None, name) if region == WEST else opened(region, name)

    (note,) = left.leave(fleet, FOUND, bucket, AT, whole=True)
    assert note.startswith(f"Monitoring of main is not told of this look at drift: s3://{name}/drift/main/{WEST}/")
    assert "AccessDenied" in note
    assert "You need s3:PutObject" in note
    assert told(fleet, opened, "main") == {}
    assert told(fleet, opened, "south")


def test_in_azure_too(fleet: Fleet, s3: Any, azure: LocalAzure, group: str) -> None:  # noqa: F811
    other = fleet_metrics.condition("backups/south/")
    container = stored.container(azure, group, other, ())

    def bucket(region: str, name: str) -> Any:
        return S3(s3, None, name) if region == WEST else blobs(container, name)

    (note,) = left.leave(fleet, FOUND, bucket, AT, whole=True)
    assert note.startswith("Monitoring of south is not told of this look at drift: https://")
    assert "Storage Blob Data" in note


def test_where_nothing_is_monitored_nobody_is_asked(fleet: Fleet) -> None:
    def bucket(*_: str) -> Any:
        raise AssertionError("asked")

    assert left.leave(fleet.model_copy(update={"monitoring": None}), FOUND, bucket, AT, whole=True) == []


def test_what_is_left_is_what_was_asked_and_answered_while_nobody_changed_it() -> None:
    nobody: Any = None
    looked = Looked([], nobody, nobody)
    looked.reports |= {name: StackReport(name) for name in ("a", "busy", "broken", "empty")}
    looked.stacks |= {name: StackStatus(name) for name in looked.reports}
    looked.stacks["a"] = StackStatus("a", resources=3, drift=["x"])
    looked.stacks["busy"] = StackStatus("busy", resources=3, drift=["x"], held_by="somebody")
    looked.reports["broken"].enter("failed")
    assert looked.found == {"a": ["x"], "busy": None, "broken": None}
