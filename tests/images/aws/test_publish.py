"""What a run that was killed has left in EBS: a snapshot that somebody cancelled, a journal that says too much."""

from hashlib import sha256
from pathlib import Path

import pytest

from images import channels
from images.errors import ImageError
from images.stores.blocks import used

from ..store_bed import Killed, bake, told
from . import bed
from .bed import REGIONS


def test_a_snapshot_that_was_cancelled_is_started_anew(endpoint: str, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "cancelled")
    store = bed.store(endpoint, tmp_path / "journals", "cancelled", REGIONS[:1])
    with bed.interrupted(store, lambda step: step == "after start_snapshot"), pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    (started,) = bed.snapshots(store, REGIONS[0])
    store.of(REGIONS[0])("ec2").delete_snapshot(SnapshotId=started["SnapshotId"])
    channels.publish(store, folder, image, "alice", told)
    (snapshot,) = bed.snapshots(store, REGIONS[0])
    assert (snapshot["State"], snapshot["SnapshotId"] != started["SnapshotId"]) == ("completed", True)


def test_a_journal_that_says_too_much_is_found_out_and_dropped(endpoint: str, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "liar")
    store = bed.store(endpoint, tmp_path / "journals", "liar", REGIONS[:1])
    with bed.interrupted(store, lambda step: step == "after start_snapshot"), pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    lines = [f"{index} {sha256(data).hexdigest()}" for index, data in used(folder / "disk.raw")]
    (started,) = bed.snapshots(store, REGIONS[0])
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / f"{started['SnapshotId']}.blocks").write_text("\n".join(lines) + "\n")
    with pytest.raises(ImageError, match=r"CompleteSnapshot was refused \(ValidationException\).*goes on with it"):
        channels.publish(store, folder, image, "alice", told)
    channels.publish(store, folder, image, "alice", told)
    assert [one["State"] for one in bed.snapshots(store, REGIONS[0])] == ["completed"]
