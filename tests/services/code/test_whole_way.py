"""From a folder on a laptop through S3 into a pod, in whose place a process of its own asks."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.team_code import folder, pack_key, parse, tree_key
from landbridge.clouds.aws.cloud import S3
from landbridge.code.folder import Limits, scan
from landbridge.code.known_packs import KnownPacks
from landbridge.code.ship import Shipped, ship
from landbridge.code.team_store import TeamStore
from landbridge.errors import LandbridgeError
from tests.support import s3

ROOT = Path(__file__).parents[3]
BUCKET = "example-us-east-1-123456789012"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with s3.serving() as made:
        yield made


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    made = s3.client(url)
    made.create_bucket(Bucket=BUCKET)
    yield made
    for one in made.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        made.delete_object(Bucket=BUCKET, Key=one["Key"])
    made.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "experiment"
    (made / "model").mkdir(parents=True)
    (made / "train.py").write_text("print('trained')\n")
    (made / "train.py").chmod(0o755)
    (made / "model/net.py").write_text("LAYERS = 3\n")
    (made / "model/weights.bin").write_bytes(os.urandom(3_000_000))
    (made / "latest").symlink_to("model/weights.bin")
    return made


def launched(root: Path, client: Any) -> Shipped:
    store = TeamStore(S3(client, None, BUCKET), folder("research"))
    cache = root.parent / "cache"
    return ship(scan(root, Limits(), (), cache), store, KnownPacks(cache, BUCKET, "research"))


def pod(url: str, digest: str, into: Path, *more: str) -> subprocess.CompletedProcess[str]:
    tree = f"s3://{BUCKET}/{folder('research')}{tree_key(digest)}"
    environment = {**os.environ, **s3.CREDENTIALS, "AWS_ENDPOINT_URL": url, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "services.code", "--tree", tree, "--into", str(into), *more]
    return subprocess.run(command, env=environment, cwd=into.parent, capture_output=True, text=True, check=False)


def same(root: Path, into: Path) -> None:
    for path in root.rglob("*"):
        other = into / path.relative_to(root)
        if path.is_symlink():
            assert other.readlink() == path.readlink()
        elif path.is_file():
            assert (other.read_bytes(), other.stat().st_mode) == (path.read_bytes(), path.stat().st_mode)


def test_a_pod_has_what_the_laptop_had(url: str, client: Any, root: Path, tmp_path: Path) -> None:
    done = launched(root, client)
    came = pod(url, done.digest, tmp_path / "code")
    assert (came.returncode, came.stderr) == (0, "")
    assert came.stdout.startswith("code: 3 files, 2.9 MiB, ")
    same(root, tmp_path / "code")

    (root / "train.py").write_text("print('better!')\n")
    again = launched(root, client)
    assert again.new_files == 1
    assert again.sent_bytes < 2000, "a line and the tree"
    assert pod(url, again.digest, tmp_path / "code").returncode == 0
    same(root, tmp_path / "code")


def test_packs_that_were_deleted_are_sent_again(url: str, client: Any, root: Path, tmp_path: Path) -> None:
    done = launched(root, client)
    store = TeamStore(S3(client, None, BUCKET), folder("research"))
    data = store.read(tree_key(done.digest))
    assert data is not None
    for pack in parse(data).packs:
        client.delete_object(Bucket=BUCKET, Key=folder("research") + pack_key(pack))
        assert store.read(pack_key(pack)) is None
    gone = pod(url, done.digest, tmp_path / "code")
    assert gone.returncode == 1
    assert gone.stderr.startswith(f"code: a pack of the code s3://{BUCKET}/teams/research/code/packs/")
    assert gone.stderr.endswith("is not there any more: launch the run again, which sends it\n")
    assert gone.stderr.count("\n") == 1
    assert launched(root, client).digest == done.digest
    assert pod(url, done.digest, tmp_path / "code").returncode == 0


def test_a_tampered_pack_is_refused(url: str, client: Any, root: Path, tmp_path: Path) -> None:
    done = launched(root, client)
    data = TeamStore(S3(client, None, BUCKET), folder("research")).read(tree_key(done.digest))
    assert data is not None
    for pack, size in parse(data).packs.items():
        client.put_object(Bucket=BUCKET, Key=folder("research") + pack_key(pack), Body=b"x" * size)
    came = pod(url, done.digest, tmp_path / "code")
    assert came.returncode == 1
    assert "was changed or damaged: " in came.stderr
    assert list((tmp_path / "code").iterdir()) == []


def test_a_second_pod_at_a_site_needs_no_cloud(url: str, client: Any, root: Path, tmp_path: Path) -> None:
    done = launched(root, client)
    kept = ("--cache", str(tmp_path / "kept"))
    assert pod(url, done.digest, tmp_path / "first", *kept).returncode == 0
    assert pod("http://127.0.0.1:9", done.digest, tmp_path / "second", *kept).returncode == 0
    same(root, tmp_path / "second")
    assert pod(url, done.digest, tmp_path / "third", *kept, "--cache-mib", "0").returncode == 0
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


def test_what_another_has_sent_meanwhile_is_no_mistake(client: Any) -> None:
    store = TeamStore(S3(client, None, BUCKET), folder("research"))
    for _ in range(2):
        store.put("packs/x", b"same")
    assert store.read("packs/x") == b"same"
    assert store.where("packs/x") == f"s3://{BUCKET}/teams/research/code/packs/x"
    with pytest.raises(LandbridgeError, match=r"s3://absent/teams/research/code/packs/x can't be written: .*You need"):
        TeamStore(S3(client, None, "absent"), folder("research")).put("packs/x", b"")
