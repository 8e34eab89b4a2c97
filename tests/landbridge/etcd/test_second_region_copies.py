"""Copies in a second region: which is the newest, when it is late, and what a backup says whose copy failed."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.paginate import PageIterator
from moto import mock_aws

from landbridge.clouds.aws.cloud import Aws
from landbridge.cluster.session import Session
from landbridge.etcd import backup as backups
from landbridge.etcd import second_region_copies, store
from landbridge.etcd.machine_steps import StepError
from landbridge.etcd.ring import EtcdError, Member, View
from landbridge.remote_execution import CommandResult

WHERE = {
    "region": "us-east-1",
    "bucket": "second",
    "prefix": "copies/us-west-2/main",
    "recovery_secret": "example/main/recovery-0a1b2c3d",
}


class Info:
    """As much of a ClusterInfo as is asked for."""

    name, bucket = "main", "home"
    etcd = ()

    def __init__(self, where: dict[str, str]) -> None:
        self.copies = where


class Here:
    """A session whose clouds are moto's."""

    def __init__(self, where: dict[str, str]) -> None:
        self.info = Info(where)

    def cloud_at(self, region: str, *, hasty: bool = False) -> Aws:
        assert hasty, "a region that is out must not keep anybody waiting"
        return Aws(lambda service: boto3.client(service, region_name=region), region)


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        boto3.client("s3", "us-east-1").create_bucket(Bucket="second")
        yield


def session(where: dict[str, str] | None = None) -> Session:
    return cast(Session, Here(WHERE if where is None else where))


def put(ring: str, minutes: float, revision: int = 7) -> str:
    at = datetime.now(UTC) - timedelta(minutes=minutes)
    key = f"copies/us-west-2/main/{ring}/{at:{store.STAMP}}-{revision}.db"
    boto3.client("s3", "us-east-1").put_object(Bucket="second", Key=key, Body=b"x")
    return key


def test_a_cluster_without_copies_has_none_to_tell_of() -> None:
    assert second_region_copies.newest(session({}), "main") is None
    assert second_region_copies.keys(session({})) == ""


@pytest.mark.parametrize(
    ("ring", "minutes", "late"),
    [("main", 29, False), ("main", 31, True), ("events", 119, False), ("events", 121, True)],
)
def test_a_copy_is_late_after_twice_the_interval(ring: str, minutes: float, late: bool) -> None:
    put(ring, minutes + 60, 1)
    newest, found = put(ring, minutes), second_region_copies.newest(session(), ring)
    assert found is not None
    assert (found.key, bool(found.late)) == (newest, late)
    line = str(found.line())
    assert line.startswith(f"etcd {ring}: newest copy in us-east-1 ")
    assert ("late: see the unit etcd-backup-" in line) == late


def test_no_copy_yet_and_no_answer_are_said_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    put("events", 1)
    found = second_region_copies.newest(session(), "main")
    assert found is not None
    assert str(found.line()) == (
        "etcd main: no copy in us-east-1 yet: s3://second/copies/us-west-2/main/main/ is empty"
    )

    def nothing(*_: Any) -> Any:
        raise EndpointConnectionError(endpoint_url="https://s3.us-east-1.amazonaws.com")

    monkeypatch.setattr(PageIterator, "__iter__", nothing)
    found = second_region_copies.newest(session(), "main")
    assert found is not None
    assert found.late.startswith("us-east-1 does not say what copies it has: s3://second/copies/us-west-2/main/main/ ")
    assert "can't be listed: Could not connect" in found.late


def test_the_copy_of_the_keys_is_missed_when_it_is_not_there() -> None:
    assert "has no copy of example/main/recovery-0a1b2c3d" in second_region_copies.keys(session())
    boto3.client("secretsmanager", "us-east-1").create_secret(Name=WHERE["recovery_secret"], SecretString="x")
    assert second_region_copies.keys(session()) == ""


TOLD = {
    "key": "backups/main/main/x.db",
    "member": "main-etcd-1",
    "revision": "7",
    "keys": "3",
    "bytes": 1,
    "sha256": "0",
    "taken": "2026-01-01T001500Z",
}
COPY = {"region": "us-east-1", "bucket": "second", "key": "copies/us-west-2/main/main/x.db", "error": None}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[[CommandResult], backups.Backup]:
    """The backup of a member whose script says this."""
    member = Member("main-etcd-1", "1", answers=True, leader=True)
    monkeypatch.setattr(backups.Ctl, "look", lambda _self, ring: View(ring, [member], queried=member.name))

    class Bucket:
        def where(self, key: str) -> str:
            return f"s3://home/{key}"

        def listed(self, prefix: str) -> list[store.Snapshot]:
            return [store.Snapshot(prefix, 1, datetime.now(UTC))]

    def made(answer: CommandResult) -> backups.Backup:
        class Reach:
            def run(self, *_: Any) -> CommandResult:
                return answer

        return backups.backup(cast(Any, Reach()), cast(Any, Info(WHERE)), cast(Any, Bucket()), "main")

    return made


def test_a_backup_tells_where_its_copy_is(said: Callable[[CommandResult], backups.Backup]) -> None:
    made = said(CommandResult(0, json.dumps({**TOLD, "copy": COPY}), ""))
    assert made.copy == {name: COPY[name] for name in ("region", "bucket", "key")}
    assert said(CommandResult(0, json.dumps({**TOLD, "copy": None}), "")).copy is None


def test_a_backup_whose_copy_failed_is_whole_at_home_and_an_error(
    said: Callable[[CommandResult], backups.Backup],
) -> None:
    out = json.dumps({**TOLD, "copy": {**COPY, "error": "no copy in us-east-1 at s3://second/x: 503"}})
    with pytest.raises(
        EtcdError, match=r"whole at home, s3://home/backups/main/main/x\.db, .*: no copy in us-east-1 at"
    ):
        said(CommandResult(1, out, "ERROR: …"))


@pytest.mark.parametrize("out", ["", "etcd said this\n"])
def test_a_backup_that_never_reached_the_bucket_is_an_error(
    said: Callable[[CommandResult], backups.Backup], out: str
) -> None:
    with pytest.raises(StepError, match="main-etcd-1: the backup of etcd main failed: no leader"):
        said(CommandResult(1, out, "…\nno leader"))
