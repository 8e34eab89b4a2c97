"""A credential that is kept is given again while it holds, to nobody else, and without anything large."""

import json
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.access import exec_credential
from landbridge.access.credential_cache import EARLY_SECONDS, CredentialCache
from landbridge.access.exec_credential import Issued
from landbridge.cluster import kubeconfig_cache

ROOT = Path(__file__).parents[3]
HOUR = 3600.0


@pytest.fixture
def kept(tmp_path: Path) -> CredentialCache:
    for name in ("fleet.yaml", "state.json"):
        (tmp_path / name).write_text(name)
    made = CredentialCache(tmp_path / "home", ["--cluster", "main", "--fleet", str(tmp_path / "fleet.yaml")])
    made.write("text", time.time() + HOUR, tmp_path / "state.json")
    return made


def test_it_is_for_its_owner_alone(kept: CredentialCache) -> None:
    assert kept.read() == "text"
    assert stat.S_IMODE(kept.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("left", "text"), [(EARLY_SECONDS + 30, "text"), (EARLY_SECONDS - 1, None), (-1, None)])
def test_it_is_made_anew_some_minutes_before_it_ends(kept: CredentialCache, left: float, text: str | None) -> None:
    kept.write("text", time.time() + left, None)
    assert kept.read() == text


@pytest.mark.parametrize("name", ["fleet.yaml", "state.json"])
def test_it_ends_with_a_change_of_what_it_came_from(kept: CredentialCache, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("another")
    assert kept.read() is None


def test_it_ends_with_an_up(kept: CredentialCache) -> None:
    kubeconfig_cache.forget(kept.file.parents[1])
    assert kept.read() is None


def test_another_person_has_another_one(kept: CredentialCache, tmp_path: Path) -> None:
    fleet = f"--fleet={tmp_path / 'fleet.yaml'}"
    assert CredentialCache(tmp_path / "home", ["--cluster", "main", fleet, "--as", "bob"]).read() is None


def test_a_damaged_one_counts_for_nothing(kept: CredentialCache) -> None:
    for text in ("{broken", "[]", "{}", '{"state": []}'):
        kept.file.write_text(text)
        assert kept.read() is None


def test_the_command_gives_it_without_anything_large(kept: CredentialCache, tmp_path: Path) -> None:
    code = (
        "import sys, runpy\nsys.argv[0] = 'landbridge'\n"
        "try: runpy.run_module('landbridge', run_name='__main__', alter_sys=False)\n"
        "except SystemExit as end: print(end.code, *sys.modules)"
    )
    words = ["kubeconfig", "credential", "--cluster", "main", "--fleet", str(tmp_path / "fleet.yaml")]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        env={"LANDBRIDGE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    text, ended = done.stdout.splitlines()
    assert (text, ended.split()[0]) == ("text", "0")
    large = {"pulumi", "boto3", "azure", "pydantic", "rich", "ruamel", "cryptography", "grpc"}
    assert not large & {name.partition(".")[0] for name in ended.split()}


def test_it_is_in_the_form_of_kubernetes() -> None:
    end = datetime(2026, 1, 1, 12, tzinfo=UTC)
    told = json.loads(exec_credential.document(Issued(end, "CRT", "KEY")))
    assert told == {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {
            "clientCertificateData": "CRT",
            "clientKeyData": "KEY",
            "expirationTimestamp": "2026-01-01T12:00:00Z",
        },
    }
    told = json.loads(exec_credential.document(Issued(end + timedelta(hours=1), token="T")))
    assert told["status"] == {"token": "T", "expirationTimestamp": "2026-01-01T13:00:00Z"}
