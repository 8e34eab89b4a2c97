"""What etcd's own answers are taken for; and how snapshots are called and found."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from landbridge.clouds.aws.cloud import Aws
from landbridge.cluster.info import MachineInfo
from landbridge.errors import LandbridgeError, UsageError
from landbridge.etcd import defrag, restore, restore_command, salvage, store
from landbridge.etcd.backup import source
from landbridge.etcd.replace import check
from landbridge.etcd.ring import EtcdError, Member, View, complaint, view
from landbridge.etcd.store import Snapshot
from landbridge.remote_execution import CommandResult
from tests.landbridge.bed import Folder

MACHINES = [MachineInfo(f"main-etcd-{n}", "etcd", "a", f"10.0.0.{n}", f"main-etcd-{n}.x", "g") for n in (1, 2, 3)]


def member(number: int, **given: Any) -> Member:
    told = {"answers": True, "raft_index": 100, "applied": 100, "db_bytes": 10, "quota_bytes": 100, "revision": 5}
    return Member(f"main-etcd-{number}", f"{number:x}", **{**told, **given})


def ring(*members: Member) -> View:
    return View("main", list(members), queried=members[0].name)


HEALTHY = ring(member(1, leader=True), member(2), member(3))


def test_a_healthy_ring_ails_nothing() -> None:
    assert HEALTHY.ails(MACHINES) == []
    assert HEALTHY.quorum


@pytest.mark.parametrize(
    ("members", "ail"),
    [
        ((member(1, leader=True), member(2)), "main-etcd-3 is no member"),
        ((member(1, leader=True), member(2), member(3, answers=False)), "main-etcd-3 does not answer"),
        ((member(1), member(2), member(3)), "no quorum"),
        ((member(1, leader=True), member(2, answers=False), member(3, answers=False)), "no quorum"),
        (
            (member(1, leader=True, raft_index=9000), member(2, applied=9000), member(3)),
            "main-etcd-3 is 8900 entries behind",
        ),
        ((member(1, leader=True), member(2), member(3, learner=True)), "main-etcd-3 is a learner"),
        ((member(1, leader=True), member(2), member(3), member(9)), "main-etcd-9 is no machine"),
        (
            (member(1, leader=True, alarms=("NOSPACE: its quota is full",)), member(2), member(3)),
            "main-etcd-1: NOSPACE",
        ),
    ],
)
def test_what_ails_a_ring_is_named(members: tuple[Member, ...], ail: str) -> None:
    assert any(ail in told for told in ring(*members).ails(MACHINES))


def test_etcdctls_json_is_understood_with_a_silent_member_a_learner_and_an_alarm() -> None:
    listed = {
        "members": [
            {"ID": 10, "name": "main-etcd-1", "peerURLs": ["https://main-etcd-1.x:2380"]},
            {"ID": 11, "name": "main-etcd-2", "peerURLs": ["https://main-etcd-2.x:2380"]},
            {"ID": 12, "peerURLs": ["https://main-etcd-3.x:2380"], "isLearner": True},
        ]
    }
    status = {
        "header": {"member_id": 10, "revision": 7},
        "version": "3.6.14",
        "dbSize": 5,
        "leader": 10,
        "raftIndex": 9,
        "raftAppliedIndex": 8,
        "errors": ["memberID:10 alarm:NOSPACE ", "etcdserver: no leader"],
    }
    alarms = {"alarms": [{"memberID": 10, "alarm": 1}]}
    found = view("main", "main-etcd-1", json.dumps(listed), json.dumps([{"Status": status}]), json.dumps(alarms))
    one, two, three = found.members
    assert (one.id, one.leader, one.revision, one.alarms) == ("a", True, 7, ("NOSPACE: its quota is full",))
    assert one.errors == ("etcdserver: no leader",)
    assert (two.answers, two.version) == (False, "")
    assert (three.name, three.learner, three.answers) == ("main-etcd-3", True, False), "it never started"


def test_an_error_is_told_in_etcds_words_without_the_clutter() -> None:
    line = json.dumps({"level": "warn", "msg": "retrying failed", "error": "connection refused"})
    assert complaint(CommandResult(1, "", line + "\n")) == "connection refused"
    assert complaint(CommandResult(1, "", line + "\nError: etcdserver: not leader\n")) == "etcdserver: not leader"


def test_backups_are_taken_from_the_follower_that_knows_most() -> None:
    assert source(HEALTHY, info()) == "main-etcd-2"
    lagging = ring(member(1, leader=True), member(2, applied=50), member(3))
    assert source(lagging, info()) == "main-etcd-3"
    with pytest.raises(EtcdError, match="nothing to back up from: all are dead"):
        source(View("main", why="all are dead"), info())


def info() -> Any:
    return type("Info", (), {"name": "main", "etcd": MACHINES})()


def test_the_leader_is_defragmented_last_and_a_full_quota_is_no_reason_not_to() -> None:
    assert [one.name for one in defrag.order(HEALTHY)] == ["main-etcd-2", "main-etcd-3", "main-etcd-1"]
    full = ring(member(1, leader=True, alarms=("NOSPACE: its quota is full",)), member(2), member(3))
    assert defrag.healthy(full, info()) is full
    with pytest.raises(EtcdError, match="no member is blocked now: main-etcd-2 does not answer"):
        defrag.healthy(ring(member(1, leader=True), member(2, answers=False), member(3)), info())


def test_a_member_is_removed_only_if_all_others_live() -> None:
    dead = ring(member(1, leader=True), member(2, answers=False), member(3))
    assert check(dead, info(), MACHINES[1], force=False) == "main-etcd-1"
    with pytest.raises(EtcdError, match="main-etcd-2 is alive"):
        check(HEALTHY, info(), MACHINES[1], force=False)
    assert check(HEALTHY, info(), MACHINES[1], force=True)
    worse = ring(member(1, leader=True), member(2, answers=False), member(3, answers=False))
    with pytest.raises(EtcdError, match="only 1 of 2 others"):
        check(worse, info(), MACHINES[1], force=False)


def test_the_newest_snapshot_is_that_of_the_latest_time_in_a_name(tmp_path: Any) -> None:
    bucket = Folder(tmp_path)
    with pytest.raises(LandbridgeError, match=r"no snapshot of main's etcd main.*--survivor"):
        store.newest(bucket, "main", "main")
    begun = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for hours, revision in ((0, 5), (2, 9), (1, 7)):
        bucket.put(store.key("main", "main", revision, begun + timedelta(hours=hours)), b"x")
    # None of these is a snapshot of the ring as it lived.
    bucket.put(store.key("main", "main", 99, begun + timedelta(days=9), kind="salvaged/"), b"x")
    bucket.put("backups/main/main/notes.txt", b"x")
    bucket.put(store.key("main", "events", 50, begun + timedelta(days=9)), b"x")
    found = store.newest(bucket, "main", "main")
    assert found.key == "backups/main/main/2026-01-01T140000Z-9.db"
    assert store.taken(found) == begun + timedelta(hours=2)
    assert store.revision(found.key) == 9
    assert restore.from_bucket(bucket, info(), "main", "newest").at == begun + timedelta(hours=2)


def test_a_snapshot_is_named_by_its_key_or_a_file_here(tmp_path: Any) -> None:
    bucket = Folder(tmp_path / "bucket")
    key = store.key("main", "main", 5, datetime(2026, 1, 1, tzinfo=UTC))
    bucket.put(key, b"x")
    for given in (key, key.rpartition("/")[2]):
        assert restore.from_bucket(bucket, info(), "main", given).key == key
    file = tmp_path / "own.db"
    file.write_bytes(b"mine")
    uploaded = restore.from_bucket(bucket, info(), "main", str(file)).key
    assert (bucket.path / uploaded).read_bytes() == b"mine"
    with pytest.raises(UsageError, match="neither a snapshot"):
        restore.from_bucket(bucket, info(), "main", "nowhere.db")


def test_addresses_for_machines_are_of_aws_own_name_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        client = boto3.client("s3", region_name="us-west-2")
        client.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        made = Aws(lambda _service: client, "us-west-2").bucket("bucket")
        url = made.get_url("backups/main/main/x.db")
        assert url.startswith("https://s3.us-west-2.amazonaws.com/bucket/backups/main/main/x.db?")
        assert "X-Amz-Expires=3600" in url
        made.put("backups/main/main/x.db", b"12345")
        (found,) = made.listed("backups/main/")
        assert (found.key, found.size) == ("backups/main/main/x.db", 5)


def test_what_a_survivor_had_to_drop_is_read_from_its_own_log() -> None:
    told = {"msg": "discarding uncommitted WAL entries", "number-of-discarded-entries": 3}
    assert salvage.dropped("noise\n" + json.dumps(told) + "\nmore") == 3
    assert salvage.dropped("noise") == 0


def test_the_newest_survivor_is_that_of_the_highest_revision() -> None:
    left = [salvage.Left(f"main-etcd-{n}", "p", revision, 0) for n, revision in ((1, 5), (2, 9), (3, 7))]
    assert salvage.newest(left).machine == "main-etcd-2"
    with pytest.raises(LandbridgeError, match="--from newest"):
        salvage.newest([])


def test_a_restore_says_what_is_back_what_is_lost_and_what_is_frozen() -> None:
    at = datetime.now(UTC) - timedelta(minutes=7)
    done = restore.Restored("main", "the newest snapshot, k", 41, 1041, at, 420, 0, "/var/lib/etcd/main/data.before-x")
    text = "\n".join(restore_command.summary(done, ""))
    for word in ("revision 41", "goes on at 1041", "7 min ago", "data.before-x", "frozen", "landbridge unfreeze"):
        assert word in text
    assert "WARNING" in "\n".join(restore_command.summary(done, "the API said no"))
    survived = done._replace(source="what was left on main-etcd-2", dropped=3)
    assert "3 more entries" in "\n".join(restore_command.summary(survived, ""))


def test_a_snapshot_without_a_time_in_its_name_is_as_old_as_the_bucket_says() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert store.taken(Snapshot("backups/main/main/uploaded/own.db", 1, at)) == at


def test_of_five_members_none_is_removed_while_a_second_one_ails() -> None:
    five = [MachineInfo(f"main-etcd-{n}", "etcd", "a", "a", f"main-etcd-{n}.x", "g") for n in range(1, 6)]
    cluster = type("Info", (), {"name": "main", "etcd": five})()
    dead = ring(member(1, leader=True), member(2, answers=False), member(3), member(4), member(5, answers=False))
    with pytest.raises(EtcdError, match="main-etcd-5 is not healthy either"):
        check(dead, cluster, five[1], force=False)
