"""The server's other scripts: folders and quotas, health, and the role that a node's certificate gets."""

import ast
import base64
import datetime
import hashlib
import io
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import health
import nfs_health
import nfs_shares
import pytest
import site_identity
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

from components.control_plane.units import ON_MACHINE
from components.storage.site import nfs_server as site_nfs_server
from tests.components.storage import bed

NOW = datetime.datetime(2026, 1, 2, 4, tzinfo=datetime.UTC)


def test_nothing_but_python_s_own_library_is_imported() -> None:
    own = {path.stem for folder in (site_nfs_server.ON_MACHINE, ON_MACHINE) for path in folder.rglob("*.py")}
    for path in site_nfs_server.ON_MACHINE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


def home(name: str, uid: int, **more: Any) -> dict[str, Any]:
    made = {"name": name, "path": f"/homes/{name}", "uid": uid, "gid": os.getgid(), "mode": "0700", "project": 3001}
    return {**made, "quota_gib": None, **more}


def test_folders_have_their_owners_and_what_is_there_stays(
    server: bed.Server, capsys: pytest.CaptureFixture[str]
) -> None:
    me = os.getuid()
    share = {**server.told["shares"][0], "name": "homes", "path": "/homes", "mode": "0755"}
    server.told["shares"] = [{**server.told["shares"][0], "mode": "2775", "project": 7, "quota_gib": 20}, share]
    server.told["homes"] = [home("alice", me), home("bob", me, project=3002, quota_gib=500)]
    (server.root / "homes/left").mkdir(parents=True)
    asked: list[list[str]] = []
    nfs_shares.ready(server.told, asked.append)
    assert stat.S_IMODE((server.root / "data").stat().st_mode) == 0o2775
    assert stat.S_IMODE((server.root / "homes").stat().st_mode) == 0o755
    assert stat.S_IMODE((server.root / "homes/alice").stat().st_mode) == 0o700
    assert "homes of nobody in the fleet file: left" in capsys.readouterr().err
    assert (server.root / "homes/left").is_dir()
    root = str(server.root)
    assert asked == [
        [nfs_shares.XFS_QUOTA, "-x", "-c", f"project -s -p {root}{path} {number}", "-c", limit, root]
        for path, number, limit in (
            ("/data", 7, "limit -p bhard=20g 7"),
            ("/homes/alice", 3001, "limit -p bhard=0g 3001"),
            ("/homes/bob", 3002, "limit -p bhard=500g 3002"),
        )
    ]
    (server.root / "homes/alice").chmod(0o750)
    server.told["homes"][0]["uid"] = me + 1
    (server.root / "data").chmod(0o700)
    nfs_shares.ready(server.told, asked.append)
    assert stat.S_IMODE((server.root / "homes/alice").stat().st_mode) == 0o750, "a home's mode is its person's"
    assert (server.root / "homes/alice").stat().st_uid == me
    assert f"is uid {me}'s, and the fleet file gives alice uid {me + 1}: chown it" in capsys.readouterr().err
    assert stat.S_IMODE((server.root / "data").stat().st_mode) == 0o2775


def test_a_quota_that_cannot_be_set_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"ERROR: sh -c echo no quotas >&2; exit 3: no quotas"):
        nfs_shares.run(["sh", "-c", "echo no quotas >&2; exit 3"])


@pytest.fixture
def healthy(server: bed.Server, monkeypatch: pytest.MonkeyPatch) -> bed.Server:
    """Served, with snapshots of 3:00 and a backup of 2:00 on a day when it is 4:00."""
    (server.folder / "threads").write_text("64\n")
    monkeypatch.setattr(nfs_health, "THREADS", server.folder / "threads")
    monkeypatch.setattr(nfs_health, "STATE", server.folder / "state")
    monkeypatch.setattr(Path, "is_mount", lambda path: path == server.root)
    monkeypatch.setattr(nfs_health, "FULL", 1.1)
    for share in ("data", "scratch"):
        (server.root / f".snapshots/{share}/2026-01-02T030000Z.index.gz").touch()
    (server.folder / "state/data").mkdir(parents=True)
    (server.folder / "state/data/2026-01-02T020000Z.index.gz").touch()
    return server


def wrong(server: bed.Server, now: datetime.datetime = NOW) -> list[str]:
    return [one.wrong for one in nfs_health.measured(server.told, now) if one.wrong]


def test_a_healthy_server_has_nothing_wrong_and_says_so_in_numbers(healthy: bed.Server) -> None:
    assert wrong(healthy) == []
    text = health.text(nfs_health.NAMES, nfs_health.measured(healthy.told, NOW))
    assert "landbridge_nfs_served 1\n" in text
    assert 'landbridge_nfs_backup_age_seconds{share="data"} 7200\n' in text
    assert 'landbridge_nfs_snapshot_age_seconds{share="scratch"} 3600\n' in text
    assert 'backup_age_seconds{share="scratch"}' not in text
    assert all(
        re.fullmatch(r"# (HELP|TYPE) .*|\w+(\{share=\"\w+\"\})? [\d.e+Inf-]+", line) for line in text.splitlines()
    )


def test_a_backup_older_than_26_hours_is_wrong(healthy: bed.Server) -> None:
    after = datetime.datetime(2026, 1, 3, 4, tzinfo=datetime.UTC)
    for share in ("data", "scratch"):
        (healthy.root / f".snapshots/{share}/2026-01-03T030000Z.index.gz").touch()
    assert wrong(healthy, after) == []
    (said,) = wrong(healthy, after + datetime.timedelta(seconds=1))
    assert said == "the newest backup of share data is of 2026-01-02T020000Z, 26.0 hours ago"
    (healthy.folder / "state/data/2026-01-02T020000Z.index.gz").unlink()
    assert wrong(healthy) == ["share data has no backup"]
    healthy.told["backup"] = None
    assert wrong(healthy) == []


def test_what_is_not_served_or_not_kept_is_wrong(healthy: bed.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    nfs_health.THREADS.write_text("0\n")
    assert wrong(healthy) == ["the shares are not served: the kernel serves no NFS"]
    nfs_health.THREADS.unlink()
    assert wrong(healthy) == ["the shares are not served: the kernel serves no NFS"]
    monkeypatch.setattr(Path, "is_mount", lambda _: False)
    assert wrong(healthy) == [f"the shares are not served: there is no disk at {healthy.root}"]
    monkeypatch.setattr(Path, "is_mount", lambda _: True)
    nfs_health.THREADS.write_text("64\n")
    assert len(wrong(healthy, NOW + datetime.timedelta(hours=2))) == 2, "both snapshots are three hours old"
    monkeypatch.setattr(nfs_health, "FULL", 0.0)
    assert "full" in wrong(healthy)[0]


def test_its_unit_fails_loudly(
    healthy: bed.Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything here is of January."""
    monkeypatch.setattr(nfs_health, "settings", lambda _: healthy.told)
    monkeypatch.setattr(nfs_health, "METRICS", healthy.folder / "metrics/nfs.prom")
    with pytest.raises(SystemExit) as ended:
        nfs_health.main()
    assert ended.value.code == 1
    assert "ERROR: the newest backup of share data is of 2026-01-02T020000Z" in capsys.readouterr().err
    assert "landbridge_nfs_served 1" in (healthy.folder / "metrics/nfs.prom").read_text()


def pair(folder: Path, kind: str) -> tuple[Path, Any]:
    """A node's certificate and key in one file, as the kubelet keeps them."""
    key: Any = ec.generate_private_key(ec.SECP256R1()) if kind == "ECDSA" else rsa.generate_private_key(65537, 2048)
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, "system:node:host-1"),
        ]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(0x1F2E3D4C5B6A79880102030405060708)
        .not_valid_before(NOW)
        .not_valid_after(NOW + datetime.timedelta(days=7))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    (folder / "node.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return folder / "node.pem", made


IDENTITY = {"trust_anchor_arn": "arn:a/1", "profile_arn": "arn:p/2", "role_arn": "arn:aws:iam::1:role/x"}
GIVEN = {
    "accessKeyId": "AKID",
    "secretAccessKey": "secret",
    "sessionToken": "token",
    "expiration": "2099-01-01T00:00:00Z",
}


@pytest.mark.parametrize("kind", ["ECDSA", "RSA"])
def test_a_node_s_certificate_signs_for_the_role(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged as the service does: the canonical request is made anew from what arrived."""
    file, certificate = pair(tmp_path, kind)
    heard: list[Any] = []

    def answer(wanted: Any, timeout: float) -> Any:
        heard.append(wanted)
        return io.BytesIO(json.dumps({"credentialSet": [{"credentials": GIVEN}]}).encode())

    monkeypatch.setattr(site_identity.request, "urlopen", answer)
    for variable in site_identity.OPERATOR.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(site_identity, "NODE", file)
    aws = site_identity.SiteAws("us-west-2", IDENTITY)
    assert aws.credentials() == {
        "AccessKeyId": "AKID",
        "SecretAccessKey": "secret",
        "Token": "token",
        "Expiration": "2099-01-01T00:00:00Z",
    }
    aws.credentials()
    (asked,) = heard  # an hour's rights are asked for once
    url, sent = urlsplit(asked.full_url), {name.lower(): value for name, value in asked.header_items()}
    assert (url.netloc, url.path) == ("rolesanywhere.us-west-2.amazonaws.com", "/sessions")
    assert url.query == "profileArn=arn%3Ap%2F2&roleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx&trustAnchorArn=arn%3Aa%2F1"
    assert base64.b64decode(sent["x-amz-x509"]) == certificate.public_bytes(serialization.Encoding.DER)
    found = re.fullmatch(
        r"AWS4-X509-(\w+)-SHA256 Credential=(\d+)/(\S+), SignedHeaders=(\S+), Signature=(\w+)", sent["authorization"]
    )
    assert found
    assert (found[1], int(found[2])) == (kind, certificate.serial_number)
    assert {"host", "x-amz-date", "x-amz-x509"} <= set(found[4].split(";"))
    lines = "".join(f"{name}:{sent[name]}\n" for name in found[4].split(";"))
    request = "\n".join(["POST", "/sessions", url.query, lines, found[4], hashlib.sha256(asked.data).hexdigest()])
    text = f"AWS4-X509-{kind}-SHA256\n{sent['x-amz-date']}\n{found[3]}\n{hashlib.sha256(request.encode()).hexdigest()}"
    scheme = (ec.ECDSA(hashes.SHA256()),) if kind == "ECDSA" else (padding.PKCS1v15(), hashes.SHA256())
    certificate.public_key().verify(bytes.fromhex(found[5]), text.encode(), *scheme)


def test_a_host_without_a_role_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in site_identity.OPERATOR.values():
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(SystemExit, match="this host has no role in the cloud"):
        site_identity.SiteAws("us-west-2", None).credentials()


def test_a_node_without_a_certificate_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="openssl x509"):
        site_identity.session("us-west-2", IDENTITY, tmp_path / "none.pem")


def test_scripts_run_under_the_machine_s_own_python() -> None:
    for path in site_nfs_server.ON_MACHINE.glob("*.py"):
        code = f"compile(open({str(path)!r}).read(), 'x', 'exec')"
        done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
