"""Bytes of managed disks, written and read at the addresses that the local Azure gives, by Azure's own clients."""

import time
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute.models import AccessUri, Disk
from azure.storage.blob import BlobClient

from .machines import LOCATION
from .support import LocalAzure, assert_model
from .test_disks import disk
from .test_galleries import Images
from .vhds import footer

SIZE = 21 << 20
WRITE, READ = ({"access": access, "durationInSeconds": 3600} for access in ("Write", "Read"))


class Uploads:
    """One test's group, with disks that wait for contents."""

    def __init__(self, azure: LocalAzure, compute: Any, group: str) -> None:
        self.azure, self.disks, self.snapshots, self.group = azure, compute.disks, compute.snapshots, group

    def made(self, name: str = "upload", size: int = SIZE) -> Any:
        told = {"createOption": "Upload", "uploadSizeBytes": size + 512}
        body = disk(zone=None, creationData=told, osType="Linux", hyperVGeneration="V2")
        del body["properties"]["diskSizeGB"]
        return self.disks.begin_create_or_update(self.group, name, Disk(body)).result()

    def address(self, access: dict[str, Any], name: str = "upload") -> str:
        return str(self.disks.begin_grant_access(self.group, name, access).result().access_sas)

    def client(self, address: str) -> Any:
        return BlobClient.from_blob_url(address, transport=self.azure.transport(), retry_total=0)

    def end(self, name: str = "upload") -> None:
        self.disks.begin_revoke_access(self.group, name).result()

    def state(self, name: str = "upload") -> str:
        return str(self.disks.get(self.group, name).disk_state.value)

    def uploaded(self, name: str = "upload") -> None:
        self.made(name)
        pages = self.client(self.address(WRITE, name))
        pages.upload_page(b"boot".ljust(512, b"\0"), 0, 512)
        pages.upload_page(footer(SIZE), SIZE, 512)
        self.end(name)


@pytest.fixture
def uploads(azure: LocalAzure, compute: Any, group: str) -> Uploads:
    return Uploads(azure, compute, group)


@pytest.fixture
def gallery(azure: LocalAzure, compute: Any, place: str) -> Images:
    return Images(azure, compute, place)


def test_a_disk_is_uploaded_page_by_page_and_read_again(uploads: Uploads, place: str) -> None:
    made = uploads.made()
    assert (made.disk_state, made.disk_size_gb) == ("ReadyToUpload", 1)
    address = uploads.address(WRITE)
    assert address.startswith("https://md-impexp-local.z1.blob.storage.azure.net/")
    assert uploads.state() == "ActiveUpload"
    path = f"{place}/providers/Microsoft.Compute/disks/upload"
    assert_model(Disk, uploads.azure.ask("GET", path).json())
    pages = uploads.client(address)
    pages.upload_page(b"boot".ljust(1024, b"\0"), 512, 1024, validate_content=True)
    assert uploads.address(WRITE).partition("?")[0] == address.partition("?")[0], "asked for again, the same goes on"
    pages.upload_page(footer(SIZE), SIZE, 512)
    uploads.end()
    assert uploads.state() == "Unattached"
    with pytest.raises(HttpResponseError, match="AuthenticationFailed"):
        pages.upload_page(bytes(512), 0, 512)
    read = uploads.client(uploads.address(READ))
    assert uploads.state() == "ActiveSAS"
    assert read.download_blob(offset=512, length=4).readall() == b"boot"
    assert [one.start for one in read.list_page_ranges()] == [512, SIZE]
    with pytest.raises(HttpResponseError, match="AuthorizationPermissionMismatch"):
        read.upload_page(bytes(512), 0, 512)
    uploads.end()
    assert uploads.state() == "Unattached"


def test_what_is_no_fixed_vhd_stays_an_upload(uploads: Uploads) -> None:
    uploads.made()
    pages = uploads.client(uploads.address(WRITE))
    wrong = bytearray(footer(SIZE))
    wrong[100] ^= 1
    for content, said in (
        (bytes(512), "cookie"),
        (bytes(wrong), "checksum"),
        (footer(SIZE, kind=3), "no fixed VHD"),
        (footer(SIZE - (1 << 20)), "its disk has"),
    ):
        pages.upload_page(content, SIZE, 512)
        with pytest.raises(HttpResponseError, match=f"InvalidVhd[\\s\\S]*{said}"):
            uploads.end()
        assert uploads.state() == "ActiveUpload"
    pages.upload_page(footer(SIZE), SIZE, 512)
    uploads.end()


def test_a_disk_with_an_address_out_neither_goes_nor_is_made_anything_of(
    uploads: Uploads,
    gallery: Images,
) -> None:
    uploads.made()
    gallery.source = uploads.disks.get(uploads.group, "upload").id
    with pytest.raises(HttpResponseError, match="is in state ReadyToUpload"):
        gallery.put("1.0.0")
    uploads.address(WRITE)
    for refused in (
        lambda: uploads.disks.begin_delete(uploads.group, "upload").result(),
        lambda: uploads.disks.begin_grant_access(uploads.group, "upload", READ).result(),
        lambda: gallery.put("1.0.0"),
    ):
        with pytest.raises(HttpResponseError, match="OperationNotAllowed"):
            refused()
    uploads.client(uploads.address(WRITE)).upload_page(footer(SIZE), SIZE, 512)
    uploads.end()
    with pytest.raises(HttpResponseError, match="OperationNotAllowed"):
        uploads.address(WRITE)
    assert gallery.put("1.0.0").storage_profile.os_disk_image.size_in_gb == 1


def test_a_disk_is_there_until_the_version_made_of_it_is(uploads: Uploads, gallery: Images) -> None:
    uploads.uploaded()
    gallery.source = uploads.disks.get(uploads.group, "upload").id
    uploads.azure.own("pace", {"seconds": 30})
    versions, body = gallery.compute.gallery_image_versions, gallery.body()
    making = versions.begin_create_or_update(gallery.group, "images", "gpu", "1.0.0", body)
    with pytest.raises(HttpResponseError, match="is being copied to"):
        uploads.disks.begin_delete(uploads.group, "upload")
    uploads.azure.own("finish", {}, "POST")
    making.result()
    uploads.azure.own("pace", {})
    uploads.disks.begin_delete(uploads.group, "upload").result()


def test_a_copy_has_the_same_bytes(uploads: Uploads) -> None:
    uploads.uploaded()
    source = uploads.disks.get(uploads.group, "upload").id
    told = {"location": LOCATION, "properties": {"creationData": {"createOption": "Copy", "sourceResourceId": source}}}
    uploads.snapshots.begin_create_or_update(uploads.group, "kept", told).result()
    uploads.disks.begin_delete(uploads.group, "upload").result()
    given = uploads.snapshots.begin_grant_access(uploads.group, "kept", READ).result()
    assert isinstance(given, AccessUri)
    assert uploads.client(given.access_sas).download_blob(offset=0, length=4).readall() == b"boot"
    with pytest.raises(HttpResponseError, match="active shared access signature"):
        uploads.snapshots.begin_delete(uploads.group, "kept").result()


def test_an_address_that_has_run_out_is_given_anew(uploads: Uploads) -> None:
    uploads.made()
    old = uploads.client(uploads.address({**WRITE, "durationInSeconds": 1}))
    time.sleep(1.1)
    with pytest.raises(HttpResponseError, match="has expired"):
        old.upload_page(bytes(512), 0, 512)
    uploads.client(uploads.address(WRITE)).upload_page(bytes(512), 0, 512)


def test_what_azure_refuses_is_refused(uploads: Uploads) -> None:
    uploads.disks.begin_create_or_update(uploads.group, "empty", Disk(disk(zone=None))).result()
    with pytest.raises(HttpResponseError, match="has no contents"):
        uploads.address(READ, "empty")
    with pytest.raises(HttpResponseError, match="Write access to disk empty is refused"):
        uploads.address(WRITE, "empty")
    uploads.made()
    for access in ({**WRITE, "access": "All"}, {**WRITE, "durationInSeconds": 0}):
        with pytest.raises(HttpResponseError, match="InvalidParameter"):
            uploads.address(access)
    for size in (1 << 20, SIZE + 1):
        with pytest.raises(HttpResponseError, match="uploadSizeBytes"):
            uploads.made("wrong", size)
    address = uploads.address(WRITE)
    forged = address.replace("sig=", "sig=x")
    with pytest.raises(HttpResponseError, match="AuthenticationFailed"):
        uploads.client(forged).upload_page(bytes(512), 0, 512)
