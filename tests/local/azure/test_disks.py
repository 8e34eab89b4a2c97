"""Managed disks and snapshots of the local Azure, asked by Azure's own client."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute.models import Disk, Snapshot

from .machines import LOCATION
from .support import LocalAzure, assert_model


def disk(size_gib: int = 64, sku: str = "Premium_LRS", zone: str | None = "1", **more: Any) -> dict[str, Any]:
    zones = {"zones": [zone]} if zone else {}
    properties = {"creationData": {"createOption": "Empty"}, "diskSizeGB": size_gib, **more}
    return {"location": LOCATION, "sku": {"name": sku}, **zones, "properties": properties}


def put(compute: Any, group: str, body: dict[str, Any], name: str = "etcd") -> Any:
    return compute.disks.begin_create_or_update(group, name, Disk(body)).result()


def test_a_disk_is_there_and_grows_and_never_shrinks(azure: LocalAzure, compute: Any, group: str, place: str) -> None:
    made = put(compute, group, disk())
    assert (made.disk_state, made.zones, made.provisioning_state) == ("Unattached", ["1"], "Succeeded")
    assert_model(Disk, azure.ask("GET", f"{place}/providers/Microsoft.Compute/disks/etcd").json())
    assert put(compute, group, disk(128)).disk_size_gb == 128
    with pytest.raises(HttpResponseError, match="never shrinks"):
        put(compute, group, disk(64))
    grown = compute.disks.begin_update(group, "etcd", {"properties": {"diskSizeGB": 256}, "tags": {"a": "b"}}).result()
    assert (grown.disk_size_gb, grown.tags, grown.unique_id) == (256, {"a": "b"}, made.unique_id)
    compute.disks.begin_delete(group, "etcd").result()
    assert not list(compute.disks.list_by_resource_group(group))


def test_a_copy_is_as_large_as_what_it_copies(azure: LocalAzure, compute: Any, group: str, place: str) -> None:
    source = put(compute, group, disk())
    copied = {"createOption": "Copy", "sourceResourceId": source.id}
    body = {"location": LOCATION, "properties": {"creationData": copied, "incremental": True}}
    snapshot = compute.snapshots.begin_create_or_update(group, "before", Snapshot(body)).result()
    assert (snapshot.disk_size_gb, snapshot.incremental) == (64, True)
    assert_model(Snapshot, azure.ask("GET", f"{place}/providers/Microsoft.Compute/snapshots/before").json())
    compute.disks.begin_delete(group, "etcd").result()
    restored = disk(creationData={"createOption": "Copy", "sourceResourceId": snapshot.id})
    del restored["properties"]["diskSizeGB"]
    assert put(compute, group, restored, "restored").disk_size_gb == 64


def test_a_disk_waits_for_what_is_uploaded(compute: Any, group: str) -> None:
    body = disk(zone=None, creationData={"createOption": "Upload", "uploadSizeBytes": 32 * 1024**3 + 512})
    del body["properties"]["diskSizeGB"]
    made = put(compute, group, body)
    assert (made.disk_state, made.disk_size_gb) == ("ReadyToUpload", 32)


REFUSED = {
    "a zone that is not there": (disk(zone="7"), "InvalidAvailabilityZone"),
    "a sku that is not there": (disk(sku="Gold"), "'sku.name'"),
    "a disk of the second version in no zone": (
        disk(sku="PremiumV2_LRS", zone=None),
        "must be in an availability zone",
    ),
    "speed of a disk that has none of its own": (disk(diskIOPSReadWrite=9000), "diskIOPSReadWrite"),
    "no size": (disk(0), "'diskSizeGB'"),
    "a copy of nothing": (
        disk(creationData={"createOption": "Copy", "sourceResourceId": "/subscriptions/s/providers/a/b/c"}),
        "InvalidResourceReference",
    ),
    "an option that is not there": (disk(creationData={"createOption": "Wish"}), "createOption"),
}


def test_what_azure_refuses_is_refused(compute: Any, group: str) -> None:
    for case, (body, said) in REFUSED.items():
        with pytest.raises(HttpResponseError) as refused:
            put(compute, group, body)
        assert said in str(refused.value), case
    assert not list(compute.disks.list_by_resource_group(group))


def test_what_a_disk_is_made_of_never_changes(compute: Any, group: str) -> None:
    put(compute, group, disk(sku="PremiumV2_LRS", diskIOPSReadWrite=5000))
    with pytest.raises(HttpResponseError, match="PropertyChangeNotAllowed"):
        put(compute, group, disk(sku="PremiumV2_LRS", zone="2"))
    with pytest.raises(HttpResponseError, match="PropertyChangeNotAllowed"):
        put(compute, group, disk(creationData={"createOption": "Import", "sourceUri": "https://x.example.com/a"}))
