"""How old the newest snapshot of a ring is, by what lies in a bucket."""

from datetime import UTC, datetime

import boto3
import pytest
from moto import mock_aws

from components.control_plane.backups import place
from components.control_plane.rings import EVENTS, MAIN
from fleet.fleet_metrics import drilled
from landbridge.drill import tested as of_drills
from landbridge.etcd.store import key
from services.fleet_metrics import backups
from services.fleet_metrics.aws.bucket import Bucket
from services.fleet_metrics.errors import CloudError
from services.fleet_metrics.settings import Backup, Restores

AT = datetime(2026, 11, 30, 0, 10, tzinfo=UTC)
NOW = AT.timestamp()
FOLDER = f"{place('main', MAIN)}/"


def at(day: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


class Listing:
    """A bucket, and which prefixes were asked for."""

    def __init__(self, *keys: str) -> None:
        self.keys, self.asked = keys, list[str]()

    def __call__(self, prefix: str) -> list[str]:
        self.asked.append(prefix)
        return [one for one in self.keys if one.startswith(prefix)]


def test_the_newest_is_told_by_its_name() -> None:
    listed = Listing(*(key("main", "main", 100 - n, at(30, 0, n)) for n in range(5)))
    assert backups.newest(listed, FOLDER, NOW) == at(30, 0, 4).timestamp(), "whatever its revision is"
    assert listed.asked == [f"{FOLDER}2026-11-30"], "a month of them is not listed"


def test_after_midnight_it_is_of_yesterday_and_after_a_long_silence_of_any_day() -> None:
    listed = Listing(key("main", "main", 1, at(29, 23, 59)), key("main", "main", 1, at(28, 1)))
    assert backups.newest(listed, FOLDER, NOW) == at(29, 23, 59).timestamp()
    listed = Listing(key("main", "main", 1, at(3, 12, month=10)), key("main", "main", 1, at(5, 12, month=10)))
    assert backups.newest(listed, FOLDER, NOW) == at(5, 12, month=10).timestamp()


def test_what_is_no_snapshot_of_the_ring_as_it_lives_does_not_count() -> None:
    old, new = at(29, 20), at(30, 0, 5)
    remains = key("main", "main", 7, new, kind="remains/")
    note = key("main", "main", 7, new).replace(".db", ".copied")
    listed = Listing(key("main", "main", 6, old), remains, note, key("main", "events", 9, new), f"{FOLDER}2026-11-30x")
    assert backups.newest(listed, FOLDER, NOW) == old.timestamp()
    assert backups.newest(Listing(remains, note), FOLDER, NOW) is None


def test_rings_and_places_are_told_apart_and_one_without_any_is_not_told() -> None:
    listed = Listing(key("main", "main", 6, at(29, 20)))
    mine = [Backup(ring.name, "home", "us-west-2", "s3://b", f"{place('main', ring)}/", 60) for ring in (MAIN, EVENTS)]
    assert backups.ages(listed, mine, NOW) == {("main", "home", "us-west-2"): at(29, 20).timestamp()}


def test_the_last_restore_is_told_by_what_its_drill_has_left() -> None:
    left = [of_drills.key("main", 4711, at(day, 12, month=month)) for month, day in ((9, 2), (10, 2))]
    snapshot = f"{drilled('main')}main/2026-11-29T120000Z-7.db"
    listed = Listing(*left, snapshot)
    mine = [Restores(ring, "us-west-2", "s3://b", f"{drilled('main')}{ring}/", 60) for ring in ("main", "events")]
    assert backups.restored(listed, mine, NOW) == {("main", "us-west-2"): at(2, 12, month=10).timestamp()}
    assert backups.restored(Listing(snapshot), mine, NOW) == {}


@mock_aws
def test_a_bucket_s_own_pages_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    s3 = boto3.client("s3", region_name="us-west-2")
    s3.create_bucket(Bucket="example", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    for n in range(1005):
        s3.put_object(Bucket="example", Key=f"{FOLDER}2026-11-29T{n // 60:02}{n % 60:02}00Z-{n}.db", Body=b"")
    bucket = Bucket("example", "us-west-2")
    assert backups.newest(bucket.listed, FOLDER, NOW) == at(29, 16, 44).timestamp()
    with pytest.raises(CloudError, match=r"ListObjectsV2 s3://other/x: .*NoSuchBucket"):
        Bucket("other", "us-west-2").listed("x")
