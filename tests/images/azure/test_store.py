"""What is Azure's own of images in three of its regions: disks that are uploaded, copies, two who tag, uses, ends."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet import images as tags
from images import channels, collecting
from images.errors import ImageError
from images.stores.aws.blocks import BLOCK_BYTES
from images.stores.azure.publish import disk_name
from images.stores.store import PointerKey, Record
from tests.local.azure.machines import LOCATION, interface, machine, scale_set, subnet
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from ..store_bed import KUBERNETES, Killed, bake, said, told
from . import bed
from .bed import REGIONS, published

STABLE = PointerKey("cpu", KUBERNETES, "stable")


@pytest.fixture(autouse=True)
def calm(azure: LocalAzure) -> Iterator[None]:
    yield
    azure.own("faults", [])
    azure.own("pace", {})


def test_what_was_uploaded_is_the_bake_s_disk(azure: LocalAzure, tmp_path: Path) -> None:
    folder, _ = bake(tmp_path, "bytes")
    store = bed.store(azure, tmp_path / "journals", "bytes")
    with bed.interrupted(store, lambda step: step == "after begin_revoke_access"), pytest.raises(Killed):
        published(store, tmp_path / "again", "bytes")
    disks, name = bed.clients(azure).compute.disks, "publish-cpu-1_36_2-" + folder.name.rpartition("-")[2]
    given = disks.begin_grant_access("bytes-images", name, {"access": "Read", "durationInSeconds": 600}).result()
    assert store.clients.pages(given.access_sas).download_blob().readall() == (folder / "disk.vhd").read_bytes()


def test_a_disk_whose_upload_somebody_ended_is_made_anew(azure: LocalAzure, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "ended")
    store, whole = bed.store(azure, tmp_path / "journals", "ended"), bed.clients(azure)
    with bed.interrupted(store, lambda step: step == "before begin_revoke_access"), pytest.raises(Killed):
        channels.publish(store, folder, image, "alice", told)
    whole.compute.disks.begin_revoke_access("ended-images", disk_name(image)).result()
    (journal,) = (tmp_path / "journals").iterdir()
    before = whole.compute.disks.get("ended-images", disk_name(image)).unique_id
    # One block is missing, as far as anybody knows.
    journal.write_text("\n".join(journal.read_text().strip().splitlines()[:-1]))
    made = list[str]()
    with bed.interrupted(store, lambda step: bool(made.append(step))):
        channels.publish(store, folder, image, "alice", told)
    assert before not in str(made)
    assert "after begin_grant_access" in made, "it was uploaded once more"


def test_a_copy_that_fails_is_one_error_and_the_next_run_asks_for_it_again(azure: LocalAzure, tmp_path: Path) -> None:
    folder, image = bake(tmp_path, "copies")
    first = bed.store(azure, tmp_path / "journals", "copies", REGIONS[:1])
    channels.publish(first, folder, image, "alice", told)
    store = bed.store(azure, tmp_path / "journals", "copies")
    fault = {"match": {"type": "Microsoft.Compute/galleries/images/versions"}, "code": "AllocationFailed"}
    azure.own("faults", [{**fault, "status": 409, "late": True, "times": 1}])
    with pytest.raises(ImageError, match=r"^eastus, westeurope: copying .* has failed\. What is there is kept"):
        channels.publish(store, folder, image, "alice", told)
    assert [one.state for place in REGIONS for one in store.published(place)] == ["available", "failed", "failed"]
    assert not store.exists(REGIONS[1], first.published(REGIONS[0])[0].id)
    channels.publish(store, folder, image, "alice", told)
    assert said(store, "candidate") == [image.name] * 3


def test_an_image_that_is_being_copied_is_pending(azure: LocalAzure, tmp_path: Path) -> None:
    store = bed.store(azure, tmp_path / "journals", "pending")
    published(bed.store(azure, tmp_path / "journals", "pending", REGIONS[:1]), tmp_path, "pending")
    azure.own("pace", {"by_type": {"microsoft.compute/galleries/images/versions": 60}})
    store.waits = store.waits._replace(attempts=2)
    with pytest.raises(ImageError, match=r"is still being copied\. What is there is kept"):
        published(store, tmp_path / "again", "pending")
    assert [one.state for place in REGIONS for one in store.published(place)] == ["available", "pending", "pending"]
    azure.own("finish", {}, "POST")


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
    assert [one.key.channel for one in other.pointers(REGIONS[1])] == ["candidate", "stable"]
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
