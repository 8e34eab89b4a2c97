"""Images in three regions of the local AWS: whole or not at all, whenever it is interrupted."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fleet import images as tags
from fleet.image_names import parameter
from images import baked, channels
from images.errors import ImageError
from images.stores.aws.store import Aws
from images.stores.blocks import BLOCK_BYTES, used
from tests.local.aws.conftest import asker

from . import store_bed as bed
from .store_bed import REGIONS, told

CANDIDATE = parameter("{fleet}", bed.KUBERNETES, "candidate")


def images(store: Aws, region: str) -> list[dict[str, Any]]:
    name = {"Name": "name", "Values": [f"{store.fleet}-*"]}
    return list(store.of(region)("ec2").describe_images(Owners=["self"], Filters=[name])["Images"])


def snapshots(store: Aws, region: str) -> list[dict[str, Any]]:
    fleet = {"Name": "tag:landbridge:fleet", "Values": [store.fleet]}
    return list(store.of(region)("ec2").describe_snapshots(OwnerIds=["self"], Filters=[fleet])["Snapshots"])


def candidate(store: Aws, region: str) -> list[str]:
    name = CANDIDATE.format(fleet=store.fleet)
    return [one["Value"] for one in store.of(region)("ssm").get_parameters(Names=[name])["Parameters"]]


def test_an_image_is_the_same_disk_in_every_region_with_its_tags(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "whole", "gpu", "580.178.04")
    store = bed.store(endpoint, tmp_path / "journals", "whole")
    moves = channels.publish(store, folder, image, "alice", told)
    assert [(one.place, str(one.slot)) for one in moves] == [(r, "gpu/1.36.2/candidate") for r in REGIONS]
    for region in REGIONS:
        (one,) = images(store, region)
        (disk,) = one["BlockDeviceMappings"]
        (snapshot,) = snapshots(store, region)
        assert (one["State"], one["Architecture"], one["BootMode"]) == ("available", "x86_64", "uefi")
        assert (one["EnaSupport"], one["ImdsSupport"], one.get("TpmSupport")) == (True, "v2.0", None)
        assert (disk["DeviceName"], disk["Ebs"]["VolumeType"], disk["Ebs"]["Encrypted"]) == ("/dev/sda1", "gp3", True)
        assert (disk["Ebs"]["SnapshotId"], snapshot["Encrypted"]) == (snapshot["SnapshotId"], True)
        for tagged in (one, snapshot):
            held = {tag["Key"]: tag["Value"] for tag in tagged["Tags"]}
            assert held[tags.DIGEST] == image.digest
            assert (held[tags.TAG], held[tags.VARIANT], held[tags.DRIVER]) == ("1.36.2", "gpu", "580.178.04")
        ebs = store.of(region)("ebs")
        listed = ebs.list_snapshot_blocks(SnapshotId=snapshot["SnapshotId"])["Blocks"]
        raw = (folder / "disk.raw").read_bytes().ljust(8 * BLOCK_BYTES, b"\0")
        assert [block["BlockIndex"] for block in listed] == list(bed.USED)
        for block in listed:
            data = ebs.get_snapshot_block(SnapshotId=snapshot["SnapshotId"], **block)["BlockData"].read()
            assert data == raw[block["BlockIndex"] * BLOCK_BYTES :][:BLOCK_BYTES]
    (pointer,) = store.pointers(REGIONS[1])
    assert (pointer.record.who, pointer.record.why) == ("alice", "publish")
    assert list((tmp_path / "journals").iterdir()) == []
    assert channels.publish(store, folder, image, "alice", told) == [], "what is there stays as it is"


class Killed(BaseException):
    """What a kill is to the code that it hits."""


class Mortal:
    """A client that dies once, before or after a call of its own."""

    def __init__(self, client: Any, count: Callable[[str], bool]) -> None:
        self.client, self.count = client, count

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        if name not in WRITES:
            return found

        def call(**given: Any) -> Any:
            if self.count(f"before {name}"):
                raise Killed
            answer = found(**given)
            if self.count(f"after {name}"):
                raise Killed
            return answer

        return call


WRITES = (
    "start_snapshot",
    "put_snapshot_block",
    "complete_snapshot",
    "register_image",
    "copy_image",
    "put_parameter",
)
# Each run is killed at one step and goes on where the one before was killed.
STEPS = [f"{when} {name}" for name in WRITES for when in ("before", "after")]


def test_an_interruption_at_any_step_leaves_no_channel_half_set_and_the_next_run_goes_on(
    endpoint: str, tmp_path: Path
) -> None:
    folder, image = bed.bake(tmp_path, "killed")
    store, puts = bed.store(endpoint, tmp_path / "journals", "killed"), []
    dying: list[str] = []

    def count(step: str) -> bool:
        if step == "after put_snapshot_block":
            puts.append(step)
        return bool(dying) and dying[0] == step and bool(dying.pop())

    store.clients = {key: Mortal(client, count) for key, client in store.clients.items()}
    for step in STEPS:
        dying[:] = [step]
        with pytest.raises(Killed):
            channels.publish(store, folder, image, "alice", told)
        assert dying == [], f"never came {step}"
        if not step.endswith("put_parameter"):
            assert [candidate(store, region) for region in REGIONS] == [[], [], []], step
    channels.publish(store, folder, image, "alice", told)
    for region in REGIONS:
        (one,) = images(store, region)
        assert candidate(store, region) == [one["ImageId"]]
        (snapshot,) = snapshots(store, region)
        assert snapshot["State"] == "completed"
    assert len(puts) == len(bed.USED) + 1, "the one whose answer was lost"


def test_what_a_journal_has_is_not_put_again(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "journal")
    store, said = bed.store(endpoint, tmp_path / "journals", "journal", REGIONS[:1]), list[str]()
    gone = Mortal(store.clients[REGIONS[0], "ebs"], lambda step: step == "before complete_snapshot")
    whole, store.clients[REGIONS[0], "ebs"] = store.clients[REGIONS[0], "ebs"], gone
    with pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    (journal,) = (tmp_path / "journals").iterdir()
    assert len(journal.read_text().split()) == 2 * len(bed.USED)
    # A kill has cut the last line, which is one block to put again.
    journal.write_text(journal.read_text()[:-10])
    store.clients[REGIONS[0], "ebs"] = whole
    channels.publish(store, folder, image, "alice", said.append)
    assert any("goes on, 3 blocks are there" in line for line in said)
    assert any("1 blocks put" in line for line in said)


def test_a_snapshot_that_was_cancelled_is_started_anew(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "cancelled")
    store = bed.store(endpoint, tmp_path / "journals", "cancelled", REGIONS[:1])
    whole = store.clients[REGIONS[0], "ebs"]
    store.clients[REGIONS[0], "ebs"] = Mortal(whole, lambda step: step == "after start_snapshot")
    with pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    (started,) = snapshots(store, REGIONS[0])
    store.of(REGIONS[0])("ec2").delete_snapshot(SnapshotId=started["SnapshotId"])
    store.clients[REGIONS[0], "ebs"] = whole
    channels.publish(store, folder, image, "alice", told)
    (snapshot,) = snapshots(store, REGIONS[0])
    assert (snapshot["State"], snapshot["SnapshotId"] != started["SnapshotId"]) == ("completed", True)


def test_a_disk_that_is_not_the_baked_one_goes_nowhere(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "other")
    store = bed.store(endpoint, tmp_path / "journals", "other", REGIONS[:1])
    (folder / "disk.raw").write_bytes(b"other")
    with pytest.raises(ImageError, match=r"disk\.raw has the digest .* and the bake wrote .*nothing was done"):
        channels.publish(store, folder, image, "alice", told)
    assert snapshots(store, REGIONS[0]) == []


def test_a_name_that_another_image_has_is_refused(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "taken")
    store = bed.store(endpoint, tmp_path / "journals", "taken", REGIONS[:1])
    channels.publish(store, folder, image, "alice", told)
    other, _ = bed.bake(tmp_path / "more", "more")
    taken = baked.read(other).model_copy(update={"name": image.name})
    with pytest.raises(ImageError, match=r"us-west-2 has another image with the name taken-cpu-.*another digest"):
        channels.publish(store, other, taken, "alice", told)


def test_what_aws_refuses_is_one_error_that_says_how_to_go_on(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "refused")
    store = bed.store(endpoint, tmp_path / "journals", "refused", (REGIONS[0], "us-west-1"))
    asker(endpoint)("faults", [{"kind": "throttling", "calls": 1, "operation": "CopyImage"}])
    with pytest.raises(ImageError, match=r"^us-west-1: CopyImage was refused .*the same command goes on with it"):
        channels.publish(store, folder, image, "alice", told)
    assert candidate(store, REGIONS[0]) == []


def test_a_journal_that_says_too_much_is_found_out_and_dropped(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "liar")
    store = bed.store(endpoint, tmp_path / "journals", "liar", REGIONS[:1])
    whole = store.clients[REGIONS[0], "ebs"]
    store.clients[REGIONS[0], "ebs"] = Mortal(whole, lambda step: step == "after start_snapshot")
    with pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    store.clients[REGIONS[0], "ebs"] = whole
    lines = [f"{index} {sha256(data).hexdigest()}" for index, data in used(folder / "disk.raw")]
    (started,) = snapshots(store, REGIONS[0])
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / f"{started['SnapshotId']}.blocks").write_text("\n".join(lines) + "\n")
    with pytest.raises(ImageError, match=r"CompleteSnapshot was refused \(ValidationException\).*goes on with it"):
        channels.publish(store, folder, image, "alice", told)
    channels.publish(store, folder, image, "alice", told)
    assert [one["State"] for one in snapshots(store, REGIONS[0])] == ["completed"]


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ("mine", "no channel is for variant mine, only for cpu, gpu"),
        ("gpu", r"has no driver, and machines with GPUs would start from it.*--variant gpu --driver NAME"),
    ],
)
def test_what_no_machine_can_use_is_refused_before_anything_is_sent(
    variant: str, why: str, endpoint: str, tmp_path: Path
) -> None:
    folder, image = bed.bake(tmp_path, "own", variant)
    store = bed.store(endpoint, tmp_path / "journals", "own", REGIONS[:1])
    with pytest.raises(ImageError, match=why):
        channels.publish(store, folder, image, "alice", told)
    assert snapshots(store, REGIONS[0]) == []


def test_a_journal_that_can_t_be_written_is_one_clear_error(endpoint: str, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "file")
    (tmp_path / "journals").write_text("a file in the place of the folder")
    store = bed.store(endpoint, tmp_path / "journals", "file", REGIONS[:1])
    with pytest.raises(ImageError, match=r"journals.*: .*\. What is there is kept: the same command goes on"):
        channels.publish(store, folder, image, "alice", told)
    assert candidate(store, REGIONS[0]) == []
