"""The commands' way into Azure, asked by Azure's own clients before the local Azure."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.azure import images
from landbridge.clouds.azure import leftovers
from landbridge.clouds.cloud import CloudError
from landbridge.cluster import kubeconfig
from landbridge.etcd import store
from tests.landbridge.clouds.azure.bed import CONTRIBUTOR, NAMES, OFFICER, REGION, Bed, make
from tests.local.azure.conftest import azure  # noqa: F401
from tests.local.azure.support import LocalAzure


@pytest.fixture(scope="module")
def bed(azure: LocalAzure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:  # noqa: F811
    folder: Path = tmp_path_factory.mktemp("fleet")
    for made in make(azure, folder):
        made.account()
        made.vault()
        made.machines()
        yield made


def test_owning_a_region_reads_no_bucket_and_no_secret_and_the_role_is_named(bed: Bed) -> None:
    bucket = bed.cloud.bucket(bed.account())
    with pytest.raises(CloudError, match=r"fleet/a can't be read: .*Storage Blob Data Reader"):
        bucket.read("a")
    with pytest.raises(CloudError, match=r"both--main--admin cannot be read.*Key Vault Secrets User"):
        bed.cloud.secret("both/main/admin")
    bed.assign(CONTRIBUTOR)
    bed.assign(OFFICER)
    assert bucket.read("a") is None


def test_what_is_put_into_the_bucket_is_read_listed_handed_out_and_deleted(bed: Bed) -> None:
    name = bed.account()
    bucket, key = bed.cloud.bucket(name), "backups/main/main/2026-01-01T001500Z-7.db"
    bucket.put(key, b"one")
    bucket.put(key, b"three")
    assert bucket.where(key) == f"https://{name}.blob.core.windows.net/fleet/{key}"
    assert bucket.read(key) == b"three"
    found = store.newest(bucket, "main", "main")
    assert (found.key, found.size, store.revision(found.key)) == (key, 5, 7)
    assert bucket.listed("backups/main/events/") == []
    url = bucket.get_url(key, 60)
    assert url.startswith(f"{bucket.where(key)}?")
    answer = fetched(bed, url)
    assert answer == (200, b"three")
    assert fetched(bed, url.replace("-7.db", "-8.db"))[0] == 403, "it is for nothing else"
    bucket.delete(key)
    bucket.delete(key)
    assert bucket.read(key) is None


def fetched(bed: Bed, url: str) -> tuple[int, bytes]:
    """As a machine does, with no token."""
    import requests

    from tests.local.azure.support import _ToLocal

    with requests.Session() as session:
        session.trust_env, session.verify = False, str(bed.azure.authority)
        session.mount("https://", _ToLocal(bed.azure.tls))
        answer = session.get(url, timeout=30)
        return answer.status_code, answer.content


def test_secrets_are_found_by_names_with_slashes(bed: Bed) -> None:
    vault = bed.cloud._vault
    vault.set_secret("both--main--admin", '{"crt": "c", "key": "k"}')
    vault.set_secret("both--main--recovery-1a", "{}")
    assert bed.cloud.secrets("both/main/recovery-") == ["both--main--recovery-1a"]
    assert bed.cloud.has_secret("both/main/admin")
    assert not bed.cloud.has_secret("both/main/other")
    info = bed.info._replace(admin_secret="both/main/admin", break_glass_secret="both/main/none")
    assert kubeconfig.admin(bed.cloud, info) == kubeconfig.Credential("landbridge-admin", "c", "k")
    with pytest.raises(Exception, match=r"both--main--none cannot be read.*SecretNotFound.*bring the cluster's stack"):
        kubeconfig.break_glass(bed.cloud, info)


def test_machines_are_known_by_tags_while_they_run(bed: Bed) -> None:
    found = bed.cloud.machines(bed.info)
    assert sorted(found) == sorted(NAMES)
    one = found["main-etcd-1"]
    assert (one.address, one.kubernetes) == (bed.addresses["main-etcd-1"], "1.36.2")
    assert one.image.startswith("Canonical:ubuntu-24_04-lts:server:")
    bed.compute.virtual_machines.begin_power_off(bed.group, "main-etcd-1").result()
    assert list(bed.cloud.machines(bed.info)) == ["main-api-1"]
    bed.compute.virtual_machines.begin_start(bed.group, "main-etcd-1").result()
    assert bed.cloud.machines(bed.info)["main-etcd-1"] == one, "its id stays"


def test_the_image_is_what_the_channel_says_in_the_region(bed: Bed) -> None:
    assert bed.cloud.image("both", "1.36.2") == "", "there is no gallery yet"
    place = images.image_id(bed.fleet, "1.36.2")
    gallery, group = place.partition("/images/")[0], place.partition("/providers/")[0]
    assert bed.azure.put(group, {"location": REGION}).status_code == 201
    bed.azure.put(gallery, {"location": REGION, "properties": {}}, "2024-03-03")
    identifier = {"publisher": "landbridge", "offer": "both", "sku": "cpu-1.36.2"}
    about = {"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2", "identifier": identifier}
    tags = {images.tag("stable", REGION): "1.2.3 by somebody", images.tag("stable", "eastus"): "3.2.1"}
    made = bed.azure.put(place, {"location": REGION, "properties": about, "tags": tags}, "2024-03-03")
    assert made.status_code in (200, 201, 202), made.text
    bed.azure.ask("GET", place, version="2024-03-03")
    assert bed.cloud.image("both", "1.36.2") == f"{place}/versions/1.2.3"
    assert bed.cloud.channel("both", "1.36.2") == (
        "the tag landbridge:stable:southcentralus of both/cpu-1.36.2 in the gallery"
    )
    bed.azure.ask("DELETE", group)


def test_the_balancer_tells_who_is_behind_it(bed: Bed) -> None:
    machine = bed.info.machines["main-api-1"]
    with pytest.raises(
        CloudError, match=r"main has no balancer in both-southcentralus: `landbridge up main --refresh`"
    ):
        bed.cloud.unbalanced(bed.info, machine)
    bed.balancer()
    assert bed.cloud.unbalanced(bed.info, machine) == "the balancer sends it nothing: it is no target"
    bed.balancer("main-api-1")
    assert bed.cloud.unbalanced(bed.info, machine) == ""
    assert bed.cloud.probes(bed.info) == {"/readyz?exclude=x"}


def test_a_machine_that_is_ended_is_gone_and_somebody_has_to_make_it_anew(bed: Bed) -> None:
    before = bed.cloud.machines(bed.info)["main-api-1"]
    bed.cloud.end(bed.info, ["main-api-1"])
    assert "main-api-1" not in bed.cloud.machines(bed.info)
    with pytest.raises(CloudError, match="main-api-1: both-southcentralus has no such machine"):
        bed.cloud.end(bed.info, ["main-api-1"])
    assert not bed.cloud.heals
    bed.cloud.revive(bed.info, "main-api-1")
    bed.cloud.replace(bed.info, "main-etcd-1", before.id)
    assert bed.made == ["main-api-1", "main-etcd-1"]


@pytest.mark.parametrize("delete", [False, True])
def test_what_a_cluster_leaves_is_set_aside_or_deleted_and_named(bed: Bed, *, delete: bool) -> None:
    mine = {"landbridge:fleet": "both", "landbridge:cluster": "main", "landbridge:machine": "main-etcd-1"}
    whole = {**mine, "landbridge:disk": "etcd-main"}
    disks = {
        "main": whole,
        "else": {**whole, "landbridge:cluster": "else"},
        "far": {**whole, "landbridge:fleet": "far"},
    }
    disks["aside"] = {**mine, "landbridge:kept": "etcd-main 2026-01-01"}
    for name, tags in disks.items():
        empty = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
        body = {"location": REGION, "sku": {"name": "Premium_LRS"}, "tags": tags, "properties": empty}
        bed.put(f"Microsoft.Compute/disks/{name}", body, "2024-03-02")
        bed.azure.own("finish", {}, "POST")
    told = leftovers.settle(
        bed.cloud.clients, bed.group, "both", "main", delete=delete, today=datetime.date(2026, 11, 21)
    )
    what = "deleted" if delete else "kept, with its data"
    assert told == [f"{what}: main (main-etcd-1 etcd-main)"]
    left = {one.name: one.tags for one in bed.compute.disks.list_by_resource_group(bed.group) if one.name in disks}
    kept = {} if delete else {"main": {**mine, "landbridge:kept": "etcd-main 2026-11-21"}}
    others = {name: tags for name, tags in disks.items() if name != "main"}
    assert left == {**others, **kept}


SKU = "The requested size is currently not available in location 'southcentralus'."


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"status": 409, "code": "SkuNotAvailable", "message": SKU}, r"SkuNotAvailable: .*Name another instance_type"),
        ({"status": 409, "code": "AllocationFailed"}, r"no free hardware of this size there just now"),
        (
            {"status": 409, "code": "OperationNotAllowed", "message": "would exceed approved Total Cores quota"},
            r"quota of this family is used up",
        ),
        (
            {"status": 429, "code": "TooManyRequests", "retry_after_seconds": 900},
            r"no more such calls for another 900 s",
        ),
        (
            {"status": 409, "code": "Conflict", "message": "Another operation is in progress"},
            r"Somebody else changes it",
        ),
        ({"status": 409, "code": "Odd"}, r"Something that stands or is under way is against it"),
        ({"status": 403, "code": "AuthorizationFailed"}, r"You need the role Virtual Machine Contributor"),
    ],
    ids=["sku", "allocation", "quota", "throttled", "conflict", "odd", "rights"],
)
def test_a_refusal_says_what_to_do(bed: Bed, fault: dict[str, object], why: str) -> None:
    bed.azure.own("faults", [{"match": {"method": "DELETE"}, **fault}])
    with pytest.raises(CloudError, match=why) as error:
        bed.cloud.end(bed.info, ["main-etcd-1"])
    bed.azure.own("faults", [])
    assert str(error.value).startswith("main-etcd-1 can't be ended: ")


def test_a_short_retry_after_is_waited_for(bed: Bed) -> None:
    match = {"method": "DELETE"}
    bed.azure.own("faults", [{"match": match, "status": 429, "code": "Busy", "retry_after_seconds": 1, "times": 1}])
    bed.cloud.end(bed.info, ["main-etcd-1"])
    assert bed.cloud.machines(bed.info) == {}


def test_nobody_signed_in_is_told_so(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    from azure.core.exceptions import ClientAuthenticationError

    def refused(*_: object, **__: object) -> None:
        raise ClientAuthenticationError("the login is over")

    monkeypatch.setattr(type(bed.cloud.clients.compute.virtual_machines), "list", refused)
    with pytest.raises(CloudError, match=r"the login is over.* Sign in: `az login`"):
        bed.cloud.machines(bed.info)
