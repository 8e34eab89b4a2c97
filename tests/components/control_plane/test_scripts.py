"""The scripts that bundles carry, one by one: what they ask AWS for, and what they do when it is not as it should be."""

import ast
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import api_aws
import disk as disk_module
import disks_aws
import etcd_backup
import etcd_defrag
import fsync_gate
import machine
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from components.control_plane.units import ON_MACHINE

ROLE = {"AccessKeyId": "AKID", "SecretAccessKey": "secret", "Token": "token", "Expiration": "2099-01-01T00:00:00Z"}


def test_nothing_but_python_s_own_library_is_imported() -> None:
    # The client of Kubernetes' API is a file of its own, and imports as little.
    own = {path.stem for path in ON_MACHINE.rglob("*.py")} | {"kube_http"}
    for path in ON_MACHINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


class Answers:
    """Stands in for urlopen: answers in turn, and keeps what was asked."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.bodies: list[bytes] = []

    def __call__(self, wanted: Any, timeout: float) -> Any:
        self.asked.append(wanted)
        data = wanted.data
        self.bodies.append(data.read(1 << 30) if hasattr(data, "read") else data or b"")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        reply = io.BytesIO(answer)
        reply.headers = {"ETag": f'"{len(self.asked)}"'}  # type: ignore[attr-defined]
        return reply


def speaking(monkeypatch: pytest.MonkeyPatch, *answers: bytes | Exception) -> tuple[api_aws.Aws, Answers]:
    heard = Answers(*answers)
    monkeypatch.setattr(api_aws.request, "urlopen", heard)
    monkeypatch.setattr(api_aws.time, "sleep", lambda _: None)
    one = api_aws.Aws("us-west-2")
    one.role = dict(ROLE)
    return one, heard


@pytest.mark.parametrize(
    ("method", "service", "path", "query", "body"),
    [
        ("GET", "s3", "/b", {"list-type": "2", "prefix": "backups/a b/", "start-after": "x/y"}, b""),
        ("PUT", "s3", "/b/backups/main/main/2026-01-01T000000Z-1.db", {}, b"data"),
        ("POST", "ec2", "/", {}, b"Action=DescribeVolumes"),
    ],
)
def test_requests_are_signed_as_botocore_signs_them(
    monkeypatch: pytest.MonkeyPatch, method: str, service: str, path: str, query: dict[str, str], body: bytes
) -> None:
    one, heard = speaking(monkeypatch, b"")
    one.ask(method, service, path, query, machine.Text(body), {"x-amz-meta-member": " main-etcd-1 "})
    sent = heard.asked[0]
    given = {name.lower(): value for name, value in sent.header_items()}
    names = given["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    assert "x-amz-meta-member" in names
    asked = AWSRequest(method, sent.full_url, {name: given[name] for name in names}, body)
    asked.context["timestamp"] = given["x-amz-date"]
    signer = S3SigV4Auth(Credentials("AKID", "secret", "token"), service, "us-west-2")
    expected = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    assert given["authorization"].endswith(f"Signature={expected}")
    assert given["content-length"] == str(len(body))


def refusal(status: int) -> Exception:
    return machine.error.HTTPError("https://x", status, "no", {}, io.BytesIO(b"<Error>why</Error>"))  # type: ignore[arg-type]


def test_a_failing_service_is_asked_again_and_a_refusal_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    one, heard = speaking(monkeypatch, refusal(503), OSError("no route"), b"fine")
    assert one.ask("GET", "s3", "/b") == b"fine"
    assert len(heard.asked) == 3
    one, heard = speaking(monkeypatch, refusal(403))
    with pytest.raises(machine.Refused, match=r"GET https://s3.us-west-2.amazonaws.com/b: 403 <Error>why"):
        one.ask("GET", "s3", "/b")
    assert len(heard.asked) == 1


def test_a_large_file_goes_in_parts_that_are_given_up_when_one_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(api_aws, "PART_BYTES", 1000)
    file = tmp_path / "x"
    file.write_bytes(os.urandom(2500))
    begun = b'<R xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><UploadId>7</UploadId></R>'
    one, heard = speaking(monkeypatch, begun, b"")
    one.upload("b", "k", file, {"member": "m"})
    assert b"".join(heard.bodies[1:4]) == file.read_bytes()
    assert [len(body) for body in heard.bodies[1:4]] == [1000, 1000, 500]
    assert heard.bodies[4].count(b"<PartNumber>") == 3
    assert b'<PartNumber>3</PartNumber><ETag>"4"</ETag>' in heard.bodies[4]
    one, heard = speaking(monkeypatch, begun, b"", refusal(400))
    with pytest.raises(machine.Refused):
        one.upload("b", "k", file, {})
    assert heard.asked[-1].method == "DELETE"
    one, heard = speaking(monkeypatch, begun, b"", b"", b"", b"<Error>late</Error>")
    with pytest.raises(machine.Refused, match="late"):
        one.upload("b", "k", file, {})


class Volumes:
    """EC2's answers about one disk, in turn; the last one stays."""

    def __init__(self, *states: list[tuple[str, str]]) -> None:
        self.states = list(states)
        self.calls: list[str] = []

    def ec2(self, action: str, **_parameters: str) -> ElementTree.Element:
        self.calls.append(action)
        state = self.states[0]
        if action == "DescribeVolumes" and len(self.states) > 1:
            self.states.pop(0)
        items = "".join(
            f"<item><volumeId>vol-0{n}</volumeId><status>{status}</status><attachmentSet>"
            + (f"<item><instanceId>{holder}</instanceId><status>{status}</status></item>" if holder else "")
            + "</attachmentSet></item>"
            for n, (holder, status) in enumerate(state, 1)
        )
        return ElementTree.fromstring(f'<R xmlns="x"><volumeSet>{items}</volumeSet></R>')


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("FREE_SECONDS", "ATTACH_SECONDS", "DEVICE_SECONDS"):
        monkeypatch.setattr(disks_aws, name, 0.2)
    monkeypatch.setattr(disk_module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(disks_aws, "BY_ID", tmp_path)
    monkeypatch.setattr(disk_module, "LINKS", tmp_path / "links")
    return tmp_path


def disk(answers: Any) -> disks_aws.Volume:
    return disks_aws.Volume(answers, {"name": "etcd-main", "device": "/dev/sdf", "tags": {"a": "b", "c": "d"}}, "i-me")


def test_a_free_volume_is_attached_and_a_held_one_waited_for(quick: Path) -> None:
    held, free, mine = [("i-old", "attached")], [("", "available")], [("i-me", "attaching")]
    answers = Volumes(held, held, free, mine)
    disk(answers).attach()
    assert answers.calls == ["DescribeVolumes"] * 3 + ["AttachVolume"]
    again = Volumes(mine)
    disk(again).attach()
    assert again.calls == ["DescribeVolumes"]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ([("i-old", "attached")], "still so after 0 s: vol-01 is attached at i-old: waits until it is free"),
        ([("", "creating")], "vol-01 is creating: waits"),
        ([], "expected one volume with the tags a=b, c=d, found 0"),
        ([("", "available")] * 2, "found 2"),
    ],
)
def test_a_disk_that_does_not_come_is_told_and_never_taken(quick: Path, state: Any, told: str) -> None:
    answers = Volumes(state)
    with pytest.raises(disk_module.NotYet, match=told):
        disk(answers).attach()
    assert set(answers.calls) == {"DescribeVolumes"}


@pytest.mark.skipif(not shutil.which("mkfs.ext4"), reason="mkfs.ext4 is not installed")
def test_a_blank_volume_gets_a_file_system_and_any_other_keeps_what_it_has(quick: Path) -> None:
    device = quick / "nvme-Amazon_Elastic_Block_Store_vol01"
    device.touch()
    os.truncate(device, 16 << 20)
    one = disk(Volumes([("i-me", "attached")]))
    one.attach()
    one.link()
    assert disk_module.file_system(device) == "ext4"
    assert (quick / "links/etcd-main").resolve() == device
    before = device.read_bytes()
    one.link()
    assert device.read_bytes() == before
    device.write_bytes(b"\0" * 4096 + b"somebody's data" + b"\0" * (1 << 20))
    with pytest.raises(disk_module.NotYet, match="has data but no file system that blkid knows"):
        one.link()


def gate(monkeypatch: pytest.MonkeyPatch, folder: Path, *p99: float) -> int:
    found = list(p99)
    monkeypatch.setattr(fsync_gate, "measure", lambda _: (0.1, found.pop(0) if len(found) > 1 else found[0]))
    monkeypatch.setattr(fsync_gate, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(fsync_gate, "REPORTS", folder)
    monkeypatch.setattr(sys, "argv", ["fsync_gate.py", str(folder), "10"])
    return fsync_gate.main()


def test_the_gate_keeps_a_new_member_off_a_slow_disk_and_only_warns_one_that_has_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / f"fsync-{tmp_path.name}.json"
    assert gate(monkeypatch, tmp_path, 25.0, 12.0, 3.0) == 0, "the best round counts"
    assert capsys.readouterr().err.count("round") == 3, "and ends it"
    assert json.loads(report.read_text()) == {"fit": True, "limit_ms": 10.0, "p50_ms": 0.1, "p99_ms": 3.0}
    assert gate(monkeypatch, tmp_path, 25.0, 12.0, 25.0) == 1
    said = capsys.readouterr().err
    assert f"ERROR: the disk at {tmp_path} is too slow for etcd: 99 % of synced writes take up to 12.0 ms" in said
    assert json.loads(report.read_text())["fit"] is False
    (tmp_path / "data/member").mkdir(parents=True)
    assert gate(monkeypatch, tmp_path, 25.0) == 0
    said = capsys.readouterr().err
    assert "WARNING" in said
    assert said.count("round") == 1


def test_the_gate_measures_synced_writes_and_leaves_nothing(tmp_path: Path) -> None:
    median, slowest = fsync_gate.measure(tmp_path)
    assert 0 < median <= slowest
    assert list(tmp_path.iterdir()) == []


def snapshot(path: Path, data: bytes) -> None:
    path.write_bytes(data + hashlib.sha256(data).digest())


def test_a_damaged_snapshot_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    snapshot(path, b"x" * 5000)
    assert etcd_backup.whole(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="is damaged: its own digest does not fit"):
        etcd_backup.whole(path)


class Ring:
    """A member as etcd_backup sees it."""

    leads = False

    def __init__(self, name: str) -> None:
        self.name, self.machine = name, "main-etcd-2"
        self.settings = {
            "region": "us-west-2",
            "bucket": "b",
            "backups": "backups/main",
            "members": ["main-etcd-1.x", "main-etcd-2.x"],
            "host": "main-etcd-2.x",
            "rings": {"main": {"backup_minutes": 15}},
        }

    def status(self) -> Any:
        from ring import Status

        return Status(member=1, leader=1 if self.leads else 2, revision=1, version="3.6", size=1, in_use=1)


@pytest.mark.parametrize(
    ("leads", "arguments", "listed", "taken"),
    [
        (True, [], None, True),
        (False, [], ["backups/main/main/2026-01-01T000000Z-1.db"], False),
        (False, [], [], True),
        (False, [], machine.Refused(403, "no"), True),
        (False, ["--now"], None, True),
    ],
)
def test_the_leader_takes_the_snapshot_and_others_only_if_it_did_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, leads: bool, arguments: list[str], listed: Any, taken: bool
) -> None:
    slept: list[float] = []
    uploaded: list[str] = []

    class Bucket:
        def __init__(self, _region: str) -> None: ...

        def keys(self, _bucket: str, prefix: str, after: str) -> list[str]:
            assert listed is not None
            assert after.startswith(prefix)
            if isinstance(listed, Exception):
                raise listed
            return list(listed)

        def url(self, _bucket: str, key: str) -> str:
            return key

        def upload(self, _bucket: str, key: str, _path: Path, _about: dict[str, str]) -> None:
            uploaded.append(key)

    def take(_ring: Ring, path: Path) -> dict[str, str]:
        snapshot(path, b"x")
        return {"taken": "2026-01-01T001500Z", "revision": "7"}

    monkeypatch.setattr(Ring, "leads", leads)
    for name, value in (("Ring", Ring), ("cloud", Bucket), ("take", take), ("FOLDER", tmp_path)):
        monkeypatch.setattr(etcd_backup, name, value)
    monkeypatch.setattr(etcd_backup.time, "sleep", slept.append)
    monkeypatch.setattr(sys, "argv", ["etcd_backup.py", "main", *arguments])
    etcd_backup.main()
    assert uploaded == (["backups/main/main/2026-01-01T001500Z-7.db"] if taken else [])
    assert slept == ([] if leads or arguments else [120.0]), "the second member waits for the first"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("size", "in_use", "worth"),
    [(100 << 20, 30 << 20, True), (100 << 20, 60 << 20, False), (1 << 30, 900 << 20, False), (8 << 30, 1 << 30, True)],
)
def test_a_member_is_only_blocked_for_a_quarter_of_its_size(size: int, in_use: int, worth: bool) -> None:
    assert etcd_defrag.worthwhile(size, in_use) is worth


def test_scripts_run_under_the_machine_s_own_python() -> None:
    for path in ON_MACHINE.rglob("*.py"):
        done = subprocess.run(
            ["/usr/bin/python3", "-c", f"compile(open({str(path)!r}).read(), 'x', 'exec')"], check=False
        )
        assert done.returncode == 0, path
