"""Images in three regions of the local Azure: whole or not at all, whenever it is interrupted; channels, uses, ends."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet import images as tags
from fleet.azure import images as names
from images import channels, collecting
from images.errors import ImageError
from images.stores.azure.publish import disk_name
from images.stores.azure.store import Azure
from images.stores.blocks import BLOCK_BYTES
from images.stores.store import PointerKey, Record
from tests.local.azure.machines import LOCATION, interface, machine, scale_set, subnet
from tests.local.azure.support import SUBSCRIPTION, LocalAzure, served

from .. import store_bed
from ..store_bed import told
from . import bed
from .bed import REGIONS, Killed, Mortal

STABLE = PointerKey("cpu", store_bed.KUBERNETES, "stable")


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from served(tmp_path_factory.mktemp("azure"))


@pytest.fixture(autouse=True)
def calm(azure: LocalAzure) -> Iterator[None]:
    yield
    azure.own("faults", [])
    azure.own("pace", {})


def published(store: Azure, tmp_path: Path, *marks: str) -> list[str]:
    """The names of images that were published, one after the other."""
    found = []
    for mark in marks:
        folder, image = store_bed.bake(tmp_path, mark)
        channels.publish(store, folder, image, "alice", told)
        found.append(image.name)
    return found


def said(store: Azure, channel: str = "stable") -> list[str]:
    """What a channel says, by region."""
    looked = channels.look(store).values()
    slot = STABLE._replace(channel=channel)
    return [there.name(there.pointers[slot].image) if slot in there.pointers else "" for there in looked]


def test_an_image_is_one_version_with_a_copy_in_each_region_and_its_tags(azure: LocalAzure, tmp_path: Path) -> None:
    folder, image = store_bed.bake(tmp_path, "whole", "gpu", "580.178.04")
    store, lines = bed.store(azure, tmp_path / "journals", "whole-fleet"), list[str]()
    moves = channels.publish(store, folder, image, "alice", lines.append)
    assert [(one.place, str(one.slot)) for one in moves] == [(r, "gpu/1.36.2/candidate") for r in REGIONS]
    compute = store.clients.compute
    definition = compute.gallery_images.get("whole-fleet-images", "whole.fleet", "gpu-1.36.2")
    assert (definition.hyper_v_generation, definition.os_state, definition.location) == (
        "V2",
        "Generalized",
        REGIONS[0],
    )
    assert {one.name: one.value for one in definition.features} == {
        "SecurityType": "TrustedLaunchSupported",
        "IsAcceleratedNetworkSupported": "True",
        "DiskControllerTypes": "SCSI, NVMe",
    }
    version = store.version("gpu-1.36.2", names.version(image.digest))
    assert version is not None
    assert {one.region: one.state for one in version.replication_status.summary} == dict.fromkeys(REGIONS, "Completed")
    assert version.publishing_profile.exclude_from_latest
    assert all(one.exclude_from_latest for one in version.publishing_profile.target_regions)
    assert (version.tags[tags.DIGEST], version.tags[tags.DRIVER]) == (image.digest, "580.178.04")
    assert list(compute.disks.list_by_resource_group("whole-fleet-images")) == [], "nothing is left of the upload"
    assert list((tmp_path / "journals").iterdir()) == []
    assert any("5 blocks put" in line for line in lines), "four of the disk and the footer"
    for region in REGIONS:
        (there,) = store.published(region)
        assert (there.name, there.state, there.driver) == (image.name, "available", "580.178.04")
        assert store.exists(region, there.id)
    (pointer,) = store.pointers(REGIONS[1])
    assert (pointer.record.who, pointer.record.why, pointer.image) == ("alice", "publish", moves[1].image)
    assert channels.publish(store, folder, image, "alice", told) == [], "what is there stays as it is"


def test_what_was_uploaded_is_the_bake_s_disk(azure: LocalAzure, tmp_path: Path) -> None:
    folder, _ = store_bed.bake(tmp_path, "bytes")
    store = bed.store(azure, tmp_path / "journals", "bytes")
    store.clients = store.clients._replace(
        compute=Mortal(store.clients.compute, lambda step: step == "after begin_revoke_access")
    )
    with pytest.raises(Killed):
        published(store, tmp_path / "again", "bytes")
    disks, name = bed.clients(azure).compute.disks, "publish-cpu-1_36_2-" + folder.name.rpartition("-")[2]
    given = disks.begin_grant_access("bytes-images", name, {"access": "Read", "durationInSeconds": 600}).result()
    assert store.clients.pages(given.access_sas).download_blob().readall() == (folder / "disk.vhd").read_bytes()


# Each run is killed at one step and goes on where the one before was killed. Gallery, image and disk are made first, the
# version once all is uploaded.
MAKE = "begin_create_or_update"
STEPS = [
    *("before create_or_update", "after create_or_update", f"before {MAKE}", *[f"after {MAKE}"] * 3),
    *(
        f"{when} {name}"
        for name in ("begin_grant_access", "upload_page", "begin_revoke_access", MAKE, "begin_delete")
        for when in ("before", "after")
    ),
    *("before begin_update_at_scope", "after begin_update_at_scope"),
]


def test_an_interruption_at_any_step_leaves_no_channel_half_set_and_the_next_run_goes_on(
    azure: LocalAzure, tmp_path: Path
) -> None:
    folder, image = store_bed.bake(tmp_path, "killed")
    store, dying, puts = bed.store(azure, tmp_path / "journals", "killed"), list[str](), list[str]()

    def due(step: str) -> bool:
        if step == "after upload_page":
            puts.append(step)
        return bool(dying) and dying[0] == step and bool(dying.pop())

    whole = store.clients
    store.clients = whole._replace(
        compute=Mortal(whole.compute, due),
        resources=Mortal(whole.resources, due),
        pages=lambda address: Mortal(whole.pages(address), due),
    )
    for step in STEPS:
        dying[:] = [step]
        with pytest.raises(Killed):
            channels.publish(store, folder, image, "alice", told)
        assert dying == [], f"never came {step}"
        if not step.endswith("begin_update_at_scope"):
            assert said(store, "candidate") == [""] * 3, step
    channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [image.name] * 3
    assert len(puts) == len(store_bed.USED) + 2, "the one whose answer was lost is put again"
    assert list(whole.compute.disks.list_by_resource_group("killed-images")) == []


def test_a_disk_whose_upload_somebody_ended_is_made_anew(azure: LocalAzure, tmp_path: Path) -> None:
    folder, image = store_bed.bake(tmp_path, "ended")
    store, whole = bed.store(azure, tmp_path / "journals", "ended"), bed.clients(azure)
    store.clients = whole._replace(compute=Mortal(whole.compute, lambda step: step == "before begin_revoke_access"))
    with pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    whole.compute.disks.begin_revoke_access("ended-images", disk_name(image)).result()
    (journal,) = (tmp_path / "journals").iterdir()
    before = whole.compute.disks.get("ended-images", disk_name(image)).unique_id
    # One block is missing, as far as anybody knows.
    journal.write_text("\n".join(journal.read_text().strip().splitlines()[:-1]))
    made = list[str]()
    store.clients = whole._replace(compute=Mortal(whole.compute, lambda step: bool(made.append(step))))
    channels.publish(store, folder, image, "alice", told)
    assert before not in str(made)
    assert "after begin_grant_access" in made, "it was uploaded once more"


def test_a_copy_that_fails_is_one_error_and_the_next_run_asks_for_it_again(azure: LocalAzure, tmp_path: Path) -> None:
    folder, image = store_bed.bake(tmp_path, "copies")
    first = bed.store(azure, tmp_path / "journals", "copies", REGIONS[:1])
    channels.publish(first, folder, image, "alice", told)
    store = bed.store(azure, tmp_path / "journals", "copies")
    fault = {
        "match": {"type": "Microsoft.Compute/galleries/images/versions"},
        "status": 409,
        "code": "AllocationFailed",
    }
    azure.own("faults", [{**fault, "late": True, "times": 1}])
    with pytest.raises(ImageError, match=r"^eastus, westeurope: copying .* has failed\. What is there is kept"):
        channels.publish(store, folder, image, "alice", told)
    assert [one.state for place in REGIONS for one in store.published(place)] == ["available", "failed", "failed"]
    assert not store.exists(REGIONS[1], first.published(REGIONS[0])[0].id)
    channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [image.name] * 3
    azure.own("faults", [fault])
    folder, image = store_bed.bake(tmp_path, "refused")
    with pytest.raises(ImageError, match=r"^southcentralus: Azure has refused \(AllocationFailed\).*goes on with it"):
        channels.publish(store, folder, image, "alice", told)


def test_an_image_that_is_being_copied_is_pending(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "pending")
    published(bed.store(azure, tmp_path / "journals", "pending", REGIONS[:1]), tmp_path, "pending")
    azure.own("pace", {"by_type": {"microsoft.compute/galleries/images/versions": 60}})
    store.waits = store.waits._replace(attempts=2)
    with pytest.raises(ImageError, match=r"is still being copied\. What is there is kept"):
        published(store, tmp_path / "again", "pending")
    assert [one.state for place in REGIONS for one in store.published(place)] == ["available", "pending", "pending"]
    azure.own("finish", {}, "POST")


def test_a_disk_that_is_not_the_baked_one_and_a_name_that_is_taken_go_nowhere(
    azure: LocalAzure, tmp_path: Path
) -> None:
    folder, image = store_bed.bake(tmp_path, "other")
    store = bed.store(azure, tmp_path / "journals", "other", REGIONS[:1])
    whole = (folder / "disk.vhd").read_bytes()
    (folder / "disk.vhd").write_bytes(b"other")
    with pytest.raises(ImageError, match=r"disk\.vhd has the digest .* and the bake wrote .*nothing was done"):
        channels.publish(store, folder, image, "alice", told)
    assert store.definitions() == []
    (folder / "disk.vhd").write_bytes(whole)
    channels.publish(store, folder, image, "alice", told)
    taken = image.model_copy(update={"digest": image.digest[:12] + "0" * 52})
    with pytest.raises(
        ImageError, match=r"Gallery other has another image with the name cpu-1\.36\.2/.*another digest"
    ):
        channels.publish(store, folder, taken, "alice", told)
    mine, own = store_bed.bake(tmp_path, "own", "mine")
    with pytest.raises(ImageError, match="no channel is for variant mine"):
        channels.publish(store, mine, own, "alice", told)


def test_channels_go_forth_and_back_in_every_region(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "channels", REGIONS[:2])
    old, new = published(store, tmp_path, "old", "new")
    for name in (old, new):
        moves = channels.promotion(channels.look(store), name, "stable", force=True)
        channels.do(store, moves, "alice@example.com " + "x" * 200, "promote")
    assert (said(store), said(store, "retired")) == ([new] * 2, [old] * 2)
    pointer = next(one for one in store.pointers(REGIONS[0]) if one.slot == STABLE)
    assert (pointer.record.before, pointer.record.why) == (old, "promote")
    assert pointer.record.who.startswith("alice@example.com xxx")
    assert pointer.previous == next(one.id for one in store.published(REGIONS[0]) if one.name == old)
    store.point(REGIONS[0], STABLE, pointer.image, pointer.record)
    again = next(one for one in store.pointers(REGIONS[0]) if one.slot == STABLE)
    assert (again.image, again.previous) == (pointer.image, pointer.previous), (
        "who points at the same loses no way back"
    )
    for writes in (1, 2, 3):
        moves, _ = channels.rollback(channels.look(store), None, None)
        channels.do(store, moves[:writes], "bob", channels.ROLLBACK)
        moves, _ = channels.rollback(channels.look(store), None, None)
        channels.do(store, moves, "bob", channels.ROLLBACK)
        assert (said(store), said(store, "retired")) == ([old] * 2, [new] * 2), writes
        moves = channels.promotion(channels.look(store), new, "stable", force=True)
        channels.do(store, moves, "alice", "promote")


def test_two_who_move_pointers_at_once_both_count(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "both", REGIONS[:2])
    published(store, tmp_path, "one")
    image = store.published(REGIONS[0])[0].id
    now = Record("alice", datetime.datetime.now(datetime.UTC), "promote", "")
    other = bed.store(azure, tmp_path / "journals", "both", REGIONS[:2])
    held = store.pointers(REGIONS[0])
    store.pointers = lambda _: held  # type: ignore[method-assign] - what it has read before the other writes
    other.point(REGIONS[1], STABLE, image, now)
    store.point(REGIONS[0], STABLE, image, now)
    assert [one.slot.channel for one in other.pointers(REGIONS[1])] == ["candidate", "stable"]
    assert len(other.pointers(REGIONS[0])) == 2


def test_what_machines_and_scale_sets_use_is_kept_and_the_rest_goes_step_by_step(
    azure: LocalAzure, tmp_path: Path
) -> None:
    store = bed.store(azure, tmp_path / "journals", "uses", REGIONS[:2])
    marks = ("alone", "set", "instance", "nobody", "stable")
    images = dict(zip(marks, published(store, tmp_path, *marks), strict=True))
    ids = {one.name: one.id for one in store.published(REGIONS[0])}
    moves = channels.promotion(channels.look(store), images["stable"], "stable", force=True)
    channels.do(store, moves, "alice", "promote")
    place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/uses"
    azure.put(place, {"location": LOCATION})
    at = subnet(azure, place)
    alone = machine(interface(azure, at))
    alone["properties"]["storageProfile"]["imageReference"] = {"id": ids[images["alone"]].upper()}
    assert azure.put(f"{place}/providers/Microsoft.Compute/virtualMachines/alone", alone).status_code == 201
    several = scale_set(at, 1)
    storage = several["properties"]["virtualMachineProfile"]["storageProfile"]
    for mark in ("instance", "set"):
        storage["imageReference"] = {"id": ids[images[mark]]}
        made = azure.put(f"{place}/providers/Microsoft.Compute/virtualMachineScaleSets/pool", several)
        assert made.status_code in (200, 201), made.text
    far = {images[mark]: "nobody uses it" for mark in marks[:4]} | {images["stable"]: "used by channel"}
    now = datetime.datetime.now(datetime.UTC)
    (home, away) = (
        [one for one in collecting.plan(store, 0, now) if one.image.place == place] for place in REGIONS[:2]
    )
    assert all(one.why.startswith(far[one.image.name]) for one in away)
    users = {one.image.name: one.why for one in home}
    assert users[images["alone"]] == "used by machine alone and 1 more"
    assert users[images["set"]] == "used by scale set pool and 1 more"
    assert users[images["instance"]].startswith("used by machine ")
    assert users[images["nobody"]] == "used by its copy in eastus"
    steps = list[str]()
    for days in (0, 15, 30):
        decisions = collecting.plan(store, 0, now + datetime.timedelta(days=days))
        done = collecting.do(store, decisions, 0, now + datetime.timedelta(days=days))
        steps += sorted({f"{one.action} {one.image.place}" for one in done})
    assert steps == ["deprecate eastus", "disable eastus", "remove eastus"]
    assert [one.name for one in store.published(REGIONS[1])] == [images["stable"]]
    assert len(store.published(REGIONS[0])) == 5, "what copies were made of goes after them"
    for days in (31, 46, 61):
        decisions = collecting.plan(store, 0, now + datetime.timedelta(days=days))
        collecting.do(store, decisions, 0, now + datetime.timedelta(days=days))
    assert {one.name for one in store.published(REGIONS[0])} == set(images.values()) - {images["nobody"]}


def test_an_image_that_was_going_comes_back_whole_with_a_promotion(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "back", REGIONS[:1])
    (name,) = published(store, tmp_path, "back")
    (image,) = store.published(REGIONS[0])
    store.deprecate(image)
    store.disable(image)
    (gone,) = store.published(REGIONS[0])
    assert (gone.state, store.exists(REGIONS[0], image.id)) == ("disabled", False)
    channels.do(store, channels.promotion(channels.look(store), name, "stable", force=True), "alice", "promote")
    (whole,) = store.published(REGIONS[0])
    assert (whole.state, store.exists(REGIONS[0], image.id)) == ("available", True)
    assert set(
        bed.clients(azure)
        .compute.gallery_image_versions.get(store.group, store.gallery, "cpu-1.36.2", image.id.rpartition("/")[2])
        .tags
    ) >= {tags.NAME, tags.DIGEST}
    assert BLOCK_BYTES % 512 == 0, "blocks are whole pages"


def test_who_is_not_signed_in_hears_what_to_do(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "nobody")
    compute: Any = azure.client(bed.ComputeManagementClient, token="none", **bed.FAST)
    store.clients = store.clients._replace(compute=compute)
    with pytest.raises(ImageError, match=r"^southcentralus: nobody is signed in to Azure: .*az login"):
        store.published(REGIONS[0])
