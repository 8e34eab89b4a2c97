"""Images in three regions of a cloud, the same in AWS and in Azure: whole or not at all, whenever it is interrupted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from images import channels
from images.errors import ImageError
from images.stores.store import PointerKey

from .aws import bed as aws
from .azure import bed as azure
from .store_bed import KUBERNETES, Killed, StoreBed, bake, promoted, said, told

# By cloud: who serves it, and the bed there.
CLOUDS = {"aws": ("endpoint", aws.Bed), "azure": ("azure", azure.Bed)}
STABLE = PointerKey("cpu", KUBERNETES, "stable")


@pytest.fixture(scope="module", params=CLOUDS)
def clouds(request: pytest.FixtureRequest) -> StoreBed:
    server, bed = CLOUDS[request.param]
    return bed(request.getfixturevalue(server))


@pytest.fixture
def bed(clouds: StoreBed) -> Iterator[StoreBed]:
    yield clouds
    clouds.calm()


def test_an_image_is_the_same_in_every_region_with_its_tags(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "whole", "gpu", "580.178.04")
    store, lines = bed.store(tmp_path / "journals", "whole-fleet"), list[str]()
    moves = channels.publish(store, folder, image, "alice", lines.append)
    assert [(one.place, str(one.key)) for one in moves] == [(r, "gpu/1.36.2/candidate") for r in bed.regions]
    bed.assert_whole(store, folder, image)
    assert any(f"{bed.blocks} blocks put" in line for line in lines)
    for region in bed.regions:
        (there,) = store.published(region)
        assert (there.name, there.state, there.driver) == (image.name, "available", "580.178.04")
        assert store.exists(region, there.id)
    (pointer,) = store.pointers(bed.regions[1])
    assert (pointer.record.who, pointer.record.why, pointer.image) == ("alice", "publish", moves[1].image)
    assert list((tmp_path / "journals").iterdir()) == []
    assert channels.publish(store, folder, image, "alice", told) == [], "what is there stays as it is"


def test_an_interruption_at_any_step_leaves_no_channel_half_set_and_the_next_run_goes_on(
    bed: StoreBed, tmp_path: Path
) -> None:
    """Each run is killed at one step and goes on where the one before was killed."""
    folder, image = bake(tmp_path, "killed")
    store, dying, puts = bed.store(tmp_path / "journals", "killed"), list[str](), list[str]()

    def due(step: str) -> bool:
        if step == bed.put:
            puts.append(step)
        return bool(dying) and dying[0] == step and bool(dying.pop())

    with bed.interrupted(store, due):
        for step in bed.steps:
            dying[:] = [step]
            with pytest.raises(Killed):
                channels.publish(store, folder, image, "alice", told)
            assert dying == [], f"never came {step}"
            if not step.endswith(bed.pointing):
                assert said(store, "candidate") == [""] * 3, step
        channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [image.name] * 3
    bed.assert_whole(store, folder, image)
    assert len(puts) == bed.blocks + 1, "the one whose answer was lost is put again"


def test_what_a_journal_has_is_not_put_again(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "journal")
    store, lines = bed.store(tmp_path / "journals", "journal", 1), list[str]()
    with bed.interrupted(store, lambda step: step == bed.closing), pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    (journal,) = (tmp_path / "journals").iterdir()
    assert len(journal.read_text().split()) == 2 * bed.blocks
    # A kill has cut the last line, which is one block to put again.
    journal.write_text(journal.read_text()[:-10])
    channels.publish(store, folder, image, "alice", lines.append)
    assert any(f"goes on, {bed.blocks - 1} blocks are there" in line for line in lines)
    assert any("1 blocks put" in line for line in lines)


def test_a_disk_that_is_not_the_baked_one_goes_nowhere(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "other")
    store = bed.store(tmp_path / "journals", "other", 1)
    (folder / bed.disk).write_bytes(b"other")
    with pytest.raises(ImageError, match=rf"{bed.disk} has the digest .* and the bake wrote .*nothing was done"):
        channels.publish(store, folder, image, "alice", told)
    assert bed.sent(store) == []


def test_a_name_that_another_image_has_is_refused(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "taken")
    store = bed.store(tmp_path / "journals", "taken", 1)
    channels.publish(store, folder, image, "alice", told)
    # The digest's beginning is in the name, and is Azure's number of a version.
    taken = image.model_copy(update={"digest": image.digest[:12] + "0" * 52})
    with pytest.raises(ImageError, match=rf"{bed.taken}.*another digest"):
        channels.publish(store, folder, taken, "alice", told)


def test_what_the_cloud_refuses_is_one_error_that_says_how_to_go_on(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "refused")
    store = bed.store(tmp_path / "journals", "refused", 2)
    bed.refuse()
    with pytest.raises(ImageError, match=bed.refusal):
        channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [""] * 2


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ("mine", "no channel is for variant mine, only for cpu, gpu"),
        ("gpu", r"has no driver, and machines with GPUs would start from it.*--variant gpu --driver NAME"),
    ],
)
def test_what_no_machine_can_use_is_refused_before_anything_is_sent(
    variant: str, why: str, bed: StoreBed, tmp_path: Path
) -> None:
    folder, image = bake(tmp_path, "own", variant)
    store = bed.store(tmp_path / "journals", "own", 1)
    with pytest.raises(ImageError, match=why):
        channels.publish(store, folder, image, "alice", told)
    assert bed.sent(store) == []


def test_a_journal_that_can_t_be_written_is_one_clear_error(bed: StoreBed, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "file")
    (tmp_path / "journals").write_text("a file in the place of the folder")
    store = bed.store(tmp_path / "journals", "file", 1)
    with pytest.raises(ImageError, match=r"journals.*: .*\. What is there is kept: the same command goes on"):
        channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [""]


def test_channels_go_forth_and_back_and_whichever_write_a_rollback_ends_after_the_same_command_ends_it(
    bed: StoreBed, tmp_path: Path
) -> None:
    store = bed.store(tmp_path / "journals", "rolled", 2)
    old, new = bed.images(store, tmp_path, "old", "new")
    place = bed.regions[0]

    def stable() -> tuple[list[str], list[str]]:
        return said(store), said(store, "retired")

    def rolled_back(writes: int | None = None) -> None:
        """With a number: it ends early, after so many writes."""
        moves, _ = channels.rollback(channels.look(store), None, None)
        channels.do(store, moves[:writes], "bob", channels.ROLLBACK)

    promoted(store, old, new, who="alice@example.com " + "x" * 200)
    assert stable() == ([new] * 2, [old] * 2)
    pointer = next(one for one in store.pointers(place) if one.key == STABLE)
    assert (pointer.record.before, pointer.record.why) == (old, "promote")
    assert pointer.record.who.startswith("alice@example.com xxx")
    assert pointer.previous == next(one.id for one in store.published(place) if one.name == old)
    store.point(place, STABLE, pointer.image, pointer.record)
    again = next(one for one in store.pointers(place) if one.key == STABLE)
    assert (again.image, again.previous) == (pointer.image, pointer.previous), "who says the same loses no way back"
    for writes in (1, 2, 3):
        promoted(store, new)
        rolled_back(writes)
        rolled_back()
        assert stable() == ([old] * 2, [new] * 2), writes
    rolled_back(1)
    rolled_back()
    assert stable() == ([new] * 2, [old] * 2), "a second one goes forth again"
