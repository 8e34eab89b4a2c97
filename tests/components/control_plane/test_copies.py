"""Copies in a second region: what machines are told, what they may, and what the script does when one fails."""

import datetime
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import etcd_backup
import machine
import pytest

from components.control_plane import etcd
from components.control_plane.aws.roles import permissions
from components.control_plane.machines import ClusterSpec, cluster_spec
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Fleet
from tests.support import golden

HERE = Path(__file__).parent
VARIANT = HERE.parent / "variants/copies.yaml"
KEYS = [f"arn:aws:kms:{region}:123456789012:key/1" for region in ("us-west-2", "eu-west-1")]


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(VARIANT)


def made(fleet: Fleet, name: str) -> ClusterSpec:
    plan = draft(fleet, None, datetime.date(2026, 1, 1))
    assert not plan.refusals
    return cluster_spec(fleet, plan.plan, name)


def told(fleet: Fleet, name: str) -> dict[str, Any]:
    spec = made(fleet, name)
    return dict(json.loads(etcd.files(spec, spec.etcd[0])["/etc/landbridge/etcd.json"]))


def roles(fleet: Fleet, name: str, *keys: str) -> dict[str, Any]:
    spec = made(fleet, name)
    return {m.name: permissions(fleet, spec, m, *keys)["Statement"] for m in (spec.etcd[0], spec.api[0])}


@pytest.mark.golden
def test_what_machines_of_a_cluster_with_copies_are_told_and_may(fleet: Fleet) -> None:
    value = {"settings": told(fleet, "main"), "roles": roles(fleet, "main", *KEYS)}
    golden.compare(HERE / "golden/copies.yaml", value)


def test_a_cluster_without_copies_knows_nothing_of_them(fleet: Fleet) -> None:
    assert "copies" not in told(fleet, "alone")
    assert "eu-west-1" not in json.dumps(roles(fleet, "alone", KEYS[0]))


def test_api_machines_have_no_way_to_the_second_region(fleet: Fleet) -> None:
    found = roles(fleet, "main", *KEYS)
    assert "eu-west-1" not in json.dumps(found["main-api-1"])
    may = [(s["Sid"], s["Action"], s["Resource"]) for s in found["main-etcd-1"] if "eu-west-1" in json.dumps(s)]
    bucket = "arn:aws:s3:::copied-eu-west-1-123456789012"
    assert may == [
        ("Copy", ["s3:PutObject", "s3:AbortMultipartUpload"], f"{bucket}/copies/us-west-2/main/*"),
        ("CopyKey", ["kms:Decrypt", "kms:GenerateDataKey"], KEYS[1]),
    ]


class Ring:
    """A member as etcd_backup sees it."""

    leads = True
    name, machine = "main", "main-etcd-2"
    settings: dict[str, Any] = {}  # noqa: RUF012  (set by each test)

    def __init__(self, _name: str) -> None: ...

    def status(self) -> Any:
        from ring import Status

        return Status(member=1, leader=1 if self.leads else 2, revision=1, version="3.6", size=1, in_use=1)


class Clouds:
    """Two regions' S3: what was put where, in order, and which region is out."""

    def __init__(self) -> None:
        self.put: list[str] = []
        self.out: set[str] = set()
        self.refused: Exception = machine.Refused(503, "PUT https://…: 503 out\nof order")

    def client(self, region: str) -> Any:
        clouds = self

        class Client:
            def upload(self, bucket: str, key: str, _path: Path, about: dict[str, str]) -> None:
                if region in clouds.out:
                    raise clouds.refused
                assert about["revision"] == "7"
                clouds.put.append(f"{region} {bucket}/{key}")

            def url(self, bucket: str, key: str) -> str:
                return f"s3://{bucket}/{key}"

            def put(self, bucket: str, key: str, data: bytes) -> None:
                assert json.loads(data)["revision"] == "7"
                clouds.put.append(f"{region} {bucket}/{key}")

            def keys(self, bucket: str, prefix: str, after: str) -> list[str]:
                here = [line.split("/", 1)[1] for line in clouds.put if line.startswith(f"{region} {bucket}/")]
                return sorted(key for key in here if key.startswith(prefix) and key > after)

        return Client()


HOME = "us-west-2 home/backups/main/main/2026-01-01T001500Z-7"
THERE = "eu-west-1 there/copies/us-west-2/main/main/2026-01-01T001500Z-7"


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fleet: Fleet) -> Clouds:
    found = Clouds()
    copies = {**told(fleet, "main")["copies"], "bucket": "there"}
    settings = {**told(fleet, "main"), "bucket": "home", "copies": copies, "members": ["a", "b"], "host": "b"}
    monkeypatch.setattr(Ring, "settings", settings)

    def take(_ring: Ring, path: Path) -> dict[str, str]:
        data = b"x"
        path.write_bytes(data + hashlib.sha256(data).digest())
        return {"taken": "2026-01-01T001500Z", "revision": "7"}

    for name, value in (("Ring", Ring), ("cloud", found.client), ("take", take), ("FOLDER", tmp_path / "work")):
        monkeypatch.setattr(etcd_backup, name, value)
    monkeypatch.setattr(etcd_backup.time, "sleep", lambda _: None)
    monkeypatch.setattr(etcd_backup.time, "time", lambda: 1767226800.0)  # 2026-01-01, 00:20
    return found


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, clouds: Clouds) -> Callable[..., None]:
    def ran(*arguments: str, leads: bool = True) -> None:
        monkeypatch.setattr(Ring, "leads", leads)
        monkeypatch.setattr(sys, "argv", ["etcd_backup.py", "main", *arguments])
        etcd_backup.main()

    return ran


def test_a_copy_follows_the_snapshot_at_home_and_a_note_follows_the_copy(
    clouds: Clouds, run: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    run("--now")
    assert clouds.put == [f"{HOME}.db", f"{THERE}.db", f"{HOME}.copied"]
    said = json.loads(capsys.readouterr().out)
    assert (said["bucket"], said["key"]) == ("home", f"{HOME.partition('/')[2]}.db")
    copy = {"region": "eu-west-1", "bucket": "there", "key": f"{THERE.partition('/')[2]}.db", "error": None}
    assert said["copy"] == copy


@pytest.mark.parametrize("error", [machine.Refused(503, "out\nof order"), TimeoutError("out\nof order")])
def test_a_copy_that_fails_is_an_error_and_home_has_its_snapshot(
    clouds: Clouds, run: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path, error: Exception
) -> None:
    clouds.out, clouds.refused = {"eu-west-1"}, error
    with pytest.raises(SystemExit) as ended:
        run()
    line = str(ended.value.code)
    assert line.startswith(f"ERROR: no copy in eu-west-1 at s3://{THERE.partition(' ')[2]}.db: out of order. ")
    assert line.endswith(f"whole, at home: s3://{HOME.partition(' ')[2]}.db")
    assert clouds.put == [f"{HOME}.db"], "and no note"
    assert "out of order" in json.loads(capsys.readouterr().out)["copy"]["error"]
    assert list((tmp_path / "work").iterdir()) == []


def test_nothing_is_copied_that_home_does_not_have(clouds: Clouds, run: Callable[..., None]) -> None:
    clouds.out = {"us-west-2"}
    with pytest.raises(machine.Refused):
        run()
    assert clouds.put == []


def test_the_next_member_tries_again_when_the_leader_s_copy_failed(clouds: Clouds, run: Callable[..., None]) -> None:
    clouds.out = {"eu-west-1"}
    with pytest.raises(SystemExit):
        run()
    clouds.out = set()
    run(leads=False)
    assert clouds.put[1:] == [f"{HOME}.db", f"{THERE}.db", f"{HOME}.copied"]
    run(leads=False)
    assert len(clouds.put) == 4, "and the one after that has nothing to do"


def test_folders_beside_the_snapshots_are_no_snapshots(clouds: Clouds, run: Callable[..., None]) -> None:
    """Of a restore there may be `salvaged/`, whose name stands behind every time in the alphabet."""
    clouds.put = [f"{HOME.rpartition('/')[0]}/salvaged/2025-01-01T000000Z-3{end}" for end in (".db", ".copied")]
    run(leads=False)
    assert len(clouds.put) == 5
