"""Galleries of the local Azure, their images and versions, asked by Azure's own client."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute.models import Disk, Gallery, GalleryImage, GalleryImageVersion

from .machines import LOCATION, Pools, interface, machine, scale_set
from .support import LocalAzure, assert_model
from .test_blobs import Account
from .test_disks import disk
from .vhds import footer

IMAGE = {
    "location": LOCATION,
    "properties": {
        "osType": "Linux",
        "osState": "Generalized",
        "hyperVGeneration": "V2",
        "identifier": {"publisher": "example", "offer": "gpu", "sku": "ubuntu"},
    },
}


class Images:
    """One test's gallery `images` with an image `gpu`, and a disk to make versions of."""

    def __init__(self, azure: LocalAzure, compute: Any, place: str) -> None:
        self.azure, self.compute, self.group = azure, compute, place.rpartition("/")[2]
        self.path = f"{place}/providers/Microsoft.Compute/galleries/images"
        compute.galleries.begin_create_or_update(self.group, "images", Gallery({"location": LOCATION})).result()
        compute.gallery_images.begin_create_or_update(self.group, "images", "gpu", GalleryImage(IMAGE)).result()
        made = compute.disks.begin_create_or_update(self.group, "baked", Disk(disk(40, zone=None))).result()
        self.source = made.id

    def body(self, *regions: str, **more: Any) -> dict[str, Any]:
        targets = [{"name": name} for name in (LOCATION, *regions)]
        return {
            "location": LOCATION,
            "properties": {
                "publishingProfile": {"targetRegions": targets, **more},
                "storageProfile": {"osDiskImage": {"source": {"id": self.source}}},
            },
        }

    def put(self, version: str, body: dict[str, Any] | None = None) -> Any:
        told = GalleryImageVersion(body or self.body())
        made = self.compute.gallery_image_versions.begin_create_or_update(self.group, "images", "gpu", version, told)
        return made.result()

    def status(self, version: str) -> Any:
        found = self.compute.gallery_image_versions.get(
            self.group, "images", "gpu", version, expand="ReplicationStatus"
        )
        return found.replication_status


@pytest.fixture
def images(azure: LocalAzure, compute: Any, place: str) -> Images:
    return Images(azure, compute, place)


def test_a_version_has_a_copy_in_each_region(images: Images) -> None:
    made = images.put("1.0.0", images.body("West Europe"))
    assert made.provisioning_state == "Succeeded"
    assert made.storage_profile.os_disk_image.size_in_gb == 40
    told = images.status("1.0.0")
    assert (told.aggregated_state, [one.state for one in told.summary]) == ("Completed", ["Completed", "Completed"])
    for path, model in (
        ("", Gallery),
        ("/images/gpu", GalleryImage),
        ("/images/gpu/versions/1.0.0", GalleryImageVersion),
    ):
        assert_model(model, images.azure.ask("GET", f"{images.path}{path}").json())


def test_copies_take_their_time_and_go_again(images: Images) -> None:
    images.put("1.0.0")
    images.azure.own("pace", {"seconds": 30})
    compute, told = images.compute.gallery_image_versions, GalleryImageVersion(images.body("westeurope"))
    poller = compute.begin_create_or_update(images.group, "images", "gpu", "1.0.0", told)
    assert [one.state for one in images.status("1.0.0").summary] == ["Completed", "Replicating"]
    images.azure.own("finish", {}, "POST")
    poller.result()
    assert images.status("1.0.0").aggregated_state == "Completed"
    images.azure.own("pace", {})
    images.put("1.0.0")
    assert [one.region for one in images.status("1.0.0").summary] == [LOCATION]


def test_machines_start_from_the_latest_version_that_counts(images: Images, pools: Pools) -> None:
    images.put("1.9.0")
    images.put("1.10.0")
    images.put("2.0.0", images.body(excludeFromLatest=True))
    body = scale_set(pools.subnet, 1)
    storage = body["properties"]["virtualMachineProfile"]["storageProfile"]
    storage["imageReference"] = {"id": f"{images.path}/images/gpu"}
    pools.put_body(body)
    assert pools.instances()[0].storage_profile.image_reference.exact_version == "1.10.0"
    storage["imageReference"] = {"id": f"{images.path}/images/gpu/versions/2.0.0"}
    pools.put_body(body)
    pools.resize(2)
    told = [one.storage_profile.image_reference.exact_version for one in pools.instances()]
    assert told == ["1.10.0", "2.0.0"]


def test_an_image_that_is_not_in_the_region_starts_nothing(images: Images, pools: Pools) -> None:
    body = scale_set(pools.subnet, 1)
    storage = body["properties"]["virtualMachineProfile"]["storageProfile"]
    storage["imageReference"] = {"id": f"{images.path}/images/gpu"}
    with pytest.raises(HttpResponseError, match="GalleryImageNotFound"):
        pools.put_body(body)
    storage["imageReference"] = {"id": f"{images.path}/images/gpu/versions/1.0.0"}
    with pytest.raises(HttpResponseError, match="GalleryImageNotFound"):
        pools.put_body(body)


def test_a_machines_disk_is_as_large_as_its_image(images: Images, pools: Pools) -> None:
    images.put("1.0.0")
    body = machine(interface(pools.azure, pools.subnet))
    body["properties"]["storageProfile"]["imageReference"] = {"id": f"{images.path}/images/gpu/versions/1.0.0"}
    made = images.compute.virtual_machines.begin_create_or_update(images.group, "one", body).result()
    assert made.storage_profile.os_disk.disk_size_gb == 40
    versions = images.compute.gallery_image_versions
    versions.begin_delete(images.group, "images", "gpu", "1.0.0").result()
    again = images.compute.virtual_machines.begin_create_or_update(images.group, "one", body).result()
    assert again.provisioning_state == "Succeeded"
    images.compute.virtual_machines.begin_delete(images.group, "one").result()


def test_a_version_is_made_of_a_vhd_that_was_uploaded(images: Images, place: str) -> None:
    account = Account(images.azure, place)
    blob, size = account.fleet().get_blob_client("gpu.vhd"), 3 << 20
    body = images.body()
    source = {"uri": blob.url, "storageAccountId": account.id}
    body["properties"]["storageProfile"]["osDiskImage"]["source"] = source
    for content, said in ((None, "there is no such blob"), (bytes(512), "cookie")):
        if content:
            blob.create_page_blob(size + 512)
            blob.upload_page(content, size, 512)
        with pytest.raises(HttpResponseError, match=said):
            images.put("1.0.0", body)
    blob.upload_page(footer(size), size, 512)
    assert images.put("1.0.0", body).storage_profile.os_disk_image.size_in_gb == 1
    assert images.put("1.0.0", body).provisioning_state == "Succeeded"


def test_of_a_version_only_its_publishing_changes(images: Images) -> None:
    images.put("1.0.0")
    end = "2027-01-01T00:00:00+00:00"
    changed = images.put("1.0.0", images.body(endOfLifeDate=end, excludeFromLatest=True))
    assert changed.publishing_profile.exclude_from_latest
    assert changed.publishing_profile.end_of_life_date.year == 2027
    other = images.body()
    other["properties"]["storageProfile"]["osDiskImage"]["source"]["id"] = f"{images.source}-other"
    with pytest.raises(HttpResponseError, match="PropertyChangeNotAllowed"):
        images.put("1.0.0", other)


def test_a_version_may_be_kept_until_its_end(images: Images) -> None:
    body = images.body(endOfLifeDate="2999-01-01T00:00:00Z")
    body["properties"]["safetyProfile"] = {"blockDeletionBeforeEndOfLife": True}
    images.put("1.0.0", body)
    versions = images.compute.gallery_image_versions
    with pytest.raises(HttpResponseError, match="before its end of life"):
        versions.begin_delete(images.group, "images", "gpu", "1.0.0").result()
    body["properties"]["safetyProfile"]["blockDeletionBeforeEndOfLife"] = False
    images.put("1.0.0", body)
    versions.begin_delete(images.group, "images", "gpu", "1.0.0").result()


def test_what_has_something_in_it_stays_and_a_group_takes_all(images: Images) -> None:
    images.put("1.0.0")
    with pytest.raises(HttpResponseError, match="nested resources exist"):
        images.compute.galleries.begin_delete(images.group, "images").result()
    with pytest.raises(HttpResponseError, match="nested resources exist"):
        images.compute.gallery_images.begin_delete(images.group, "images", "gpu").result()
    images.azure.ask("DELETE", images.path.partition("/providers/")[0])
    assert images.group not in str(images.azure.own("inventory"))


def test_what_azure_refuses_is_refused(images: Images) -> None:
    def without_source(body: dict[str, Any]) -> None:
        body["properties"]["storageProfile"] = {}

    def of_a_blob(body: dict[str, Any]) -> None:
        source = {"uri": "https://example.blob.core.windows.net/fleet/a.vhd", "storageAccountId": images.source}
        body["properties"]["storageProfile"] = {"osDiskImage": {"source": source}}

    elsewhere = images.body()
    elsewhere["properties"]["publishingProfile"]["targetRegions"] = [{"name": "westeurope"}]
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("latest", images.body(), "version name"),
        ("1.0.0", images.body("mars"), "target region 'mars'"),
        ("1.0.0", images.body(LOCATION), "there twice"),
        ("1.0.0", elsewhere, "lack its own location"),
        ("1.0.0", images.body(endOfLifeDate="soon"), "is no date"),
    ]
    for change, said in ((without_source, "storageProfile.source"), (of_a_blob, "is no storage account")):
        body = images.body()
        change(body)
        cases.append(("1.0.0", body, said))
    for version, body, said in cases:
        path = f"{images.path}/images/gpu/versions/{version}"
        answer = images.azure.put(path, body)
        assert answer.status_code == 400
        assert said in answer.text
    other = {**IMAGE, "properties": {**IMAGE["properties"], "osState": "Specialized"}}  # type: ignore[dict-item]
    assert images.azure.put(f"{images.path}/images/gpu", other).json()["error"]["code"] == "PropertyChangeNotAllowed"
    assert images.azure.put(f"{images.path}/images/second", IMAGE).json()["error"]["code"] == "Conflict"


def test_a_machine_of_trusted_launch_wants_an_image_that_says_it_is_fit(images: Images, pools: Pools) -> None:
    images.put("1.0.0")
    body = scale_set(pools.subnet, 1)
    profile = body["properties"]["virtualMachineProfile"]
    profile["securityProfile"] = {"securityType": "TrustedLaunch", "uefiSettings": {"vTpmEnabled": True}}
    profile["storageProfile"]["imageReference"] = {"id": f"{images.path}/images/gpu/versions/1.0.0"}
    with pytest.raises(HttpResponseError, match="only supports creation of VMs"):
        pools.put_body(body)
    fit = {**IMAGE["properties"], "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}]}  # type: ignore[dict-item]
    images.compute.gallery_images.begin_create_or_update(
        images.group, "images", "gpu", GalleryImage({**IMAGE, "properties": fit})
    ).result()
    assert pools.put_body(body).sku.capacity == 1
    profile["storageProfile"]["imageReference"] = {
        "publisher": "Debian",
        "offer": "debian-12",
        "sku": "12",
        "version": "latest",
    }
    with pytest.raises(HttpResponseError, match="only supports creation of VMs"):
        pools.put_body(body)


def test_an_image_says_of_its_machines_only_what_azure_knows(images: Images) -> None:
    for features, said in (
        ([{"name": "SecurityType", "value": "Sure"}], "cannot be 'Sure'"),
        ([{"name": "Speed", "value": "True"}], "image feature Speed"),
        ([{"name": "SecurityType", "value": "TrustedLaunch"}], "wants hyperVGeneration V2"),
    ):
        told = {**IMAGE["properties"], "features": features, "hyperVGeneration": "V1"}  # type: ignore[dict-item]
        told["identifier"] = {"publisher": "a", "offer": "b", "sku": "c"}
        answer = images.azure.put(f"{images.path}/images/other", {**IMAGE, "properties": told})
        assert (answer.status_code, said in answer.text) == (400, True), answer.text
