"""A bucket that goes with its data is emptied: objects, old versions, marks of deletion, halves of uploads."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from pulumi.automation import CommandError

from landbridge.destroy import buckets, cleanup
from landbridge.engine.stack_report import Problem, StackReport
from landbridge.errors import LandbridgeError
from landbridge.up.run_context import How

BUCKET = "example-us-west-2-123456789012"
STATE = {
    "resources": [
        {"type": "aws:s3/bucket:Bucket", "id": BUCKET, "inputs": {}},
        {"type": "aws:s3/bucket:Bucket", "id": "empties-itself", "inputs": {"forceDestroy": True}},
        {"type": "aws:s3/bucket:Bucket", "id": "of-another", "external": True},
        {"type": "aws:s3/bucketPolicy:BucketPolicy", "id": BUCKET},
    ]
}


@pytest.fixture
def s3() -> Iterator[Any]:
    with mock_aws():
        made = boto3.client("s3", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
        made.create_bucket(Bucket=BUCKET)
        made.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        yield made


def test_only_its_own_buckets_that_do_not_empty_themselves() -> None:
    assert buckets.buckets(STATE) == [BUCKET]
    assert buckets.buckets(None) == []


def test_a_bucket_of_more_than_a_page_is_empty_and_can_be_deleted(s3: Any) -> None:
    for number in range(550):
        for body in (b"old", b"new"):
            s3.put_object(Bucket=BUCKET, Key=f"flow-logs/{number}", Body=body)
    s3.delete_object(Bucket=BUCKET, Key="flow-logs/0")
    s3.create_multipart_upload(Bucket=BUCKET, Key="half")
    told: list[int] = []
    assert buckets.empty(s3, BUCKET, told.append) == 1101
    assert told == [1000, 1101]
    assert not s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads")
    s3.delete_bucket(Bucket=BUCKET)
    assert buckets.empty(s3, BUCKET, told.append) == 0, "one that is gone is empty"


def test_an_object_that_stays_is_named(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="held", Body=b"held")
    held = {"Key": "held", "Code": "AccessDenied", "Message": "Access Denied because object protected by object lock."}
    refusing: Any = SimpleNamespace(
        list_object_versions=s3.list_object_versions, delete_objects=lambda **_: {"Errors": [held]}
    )
    with pytest.raises(
        LandbridgeError, match=f"{BUCKET} can't be emptied: 1 of its objects stay, held: AccessDenied: "
    ):
        buckets.empty(refusing, BUCKET, lambda _: None)


class Run:
    """A run's destroy of one stack, at which a flow log arrives `late` times, after the bucket was emptied."""

    def __init__(self, s3: Any, late: int, *, loss: bool = True) -> None:
        self.s3, self.late = s3, late
        self.reports, self.how, self.interrupted = {"west": StackReport("west")}, How(ignore_protect=loss), False
        self.engines, self.notes = {"west": self}, list[str]()

    def state(self) -> Any:
        return STATE

    def clients(self, _: str) -> Any:
        return lambda _: self.s3

    def empty(self, name: str) -> None:
        cleanup.empty(self, name)  # type: ignore[arg-type]

    def destroy(self, *_: Any, **__: Any) -> None:
        if self.late:
            self.late -= 1
            self.s3.put_object(Bucket=BUCKET, Key=f"flow-logs/late-{self.late}", Body=b"late")
        if self.s3.list_object_versions(Bucket=BUCKET).get("Versions"):
            why = "deleting S3 Bucket: BucketNotEmpty: The bucket you tried to delete is not empty"
            self.reports["west"].problems.append(Problem("aws:s3/bucket:Bucket", "fleet", why))
            raise CommandError(SimpleNamespace(code=1, stdout="", stderr=why))  # type: ignore[arg-type]

    def go(self) -> None:
        cleanup.destroy_with_data(self, "west")  # type: ignore[arg-type]


def test_what_arrives_meanwhile_goes_too(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="flow-logs/0", Body=b"early")
    run = Run(s3, late=2)
    run.go()
    assert run.reports["west"].problems == []
    assert run.notes == [f"west: {BUCKET} is emptied of objects and old versions: 1"] * 3


def test_what_never_ends_to_arrive_and_what_nobody_agreed_to_lose_fails(s3: Any) -> None:
    endless = Run(s3, late=100)
    with pytest.raises(CommandError):
        endless.go()
    assert endless.late == 100 - buckets.TIMES
    kept = Run(s3, late=1, loss=False)
    with pytest.raises(CommandError):
        kept.go()
    assert kept.notes == []
    assert s3.list_object_versions(Bucket=BUCKET)["Versions"]


def test_an_interrupt_says_how_far_it_came(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="flow-logs/0", Body=b"early")
    run = Run(s3, late=0)
    run.interrupted = True
    with pytest.raises(LandbridgeError, match=f"interrupted while it emptied {BUCKET}: 1 of its objects are gone"):
        run.go()
