"""The local AWS's world: what is AWS's alone when its server is killed, and the files of every world."""

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import bed
from .bed import REGIONS, Aws


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[Aws]:
    yield from bed.served(tmp_path)


def test_keys_of_chance_that_no_seed_decides_are_the_same_again(aws: Aws) -> None:
    made = aws.client("ec2").create_key_pair(KeyName="own")
    aws.kill()
    aws.start()
    (found,) = aws.client("ec2").describe_key_pairs()["KeyPairs"]
    assert found["KeyFingerprint"] == made["KeyFingerprint"]
    assert "another answer" not in aws.log.read_text()


def _files(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_files_are_their_owners_alone_and_stay_as_they_are_in_a_pause(aws: Aws, tmp_path: Path) -> None:
    folder = tmp_path / "home/worlds"
    aws.client("s3").create_bucket(Bucket="one", CreateBucketConfiguration={"LocationConstraint": REGIONS[0]})
    aws.client("s3").upload_fileobj(io.BytesIO(b"x" * 200_000), "one", "large")
    aws.own("flush", {})
    aws.own("pause", {"seconds": 600})
    late = threading.Thread(target=lambda: aws.client("sqs").create_queue(QueueName="late"))
    late.start()
    before = _files(folder)
    late.join(1)
    assert _files(folder) == before
    assert late.is_alive()
    aws.own("resume", {})
    late.join(60)
    assert _files(folder) != before
    for file in [folder, *folder.rglob("*")]:
        assert file.stat().st_mode & 0o777 == (0o700 if file.is_dir() else 0o600), file
