"""The cluster's stack in Azure: its resources against a golden file, what a machine finds, what a change touches."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.storage.blob import BlobServiceClient
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from fleet import issuers
from fleet.world import World, current
from tests.local.azure.support import LocalAzure, served
from tests.local.providers.azure.project import plugins
from tests.stacks.azure.bed import CLUSTER, HOME, SECOND, Stacks
from tests.stacks.azure.machines import COMPUTE, NETWORK, as_machine, blobs, machine, place, refused, vault
from tests.support import golden

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
MACHINES = ("main-api-1", "main-api-2", "main-etcd-1", "main-etcd-2", "main-etcd-3")
ONE_FLAG = """\
from components.control_plane import api
flags = api.api_flags
api.api_flags = lambda spec, machine: {**flags(spec, machine), "goaway-chance": "0.002"}
"""
OTHER_SIZE = """\
from components.control_plane import profiles
from components.control_plane.profiles import PROFILES
profiles.PROFILES["small"] = PROFILES["small"]._replace(etcd_size="Standard_D4s_v5")
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from served(tmp_path_factory.mktemp("azure"))


@pytest.fixture(scope="module")
def stacks(azure: LocalAzure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stacks]:
    """Two regions and the cluster, up."""
    for made in plugins(azure):
        found = Stacks(tmp_path_factory.mktemp("fleet") / "p", made)
        for name in (HOME, SECOND):
            found.new(name)
        found.image()
        found.new(CLUSTER)
        yield found


@pytest.fixture(scope="module")
def world(stacks: Stacks) -> World:
    return current(stacks.fleet)


def birth(stacks: Stacks) -> str:
    resources = stacks.state(CLUSTER)["checkpoint"]["latest"]["resources"]
    return str(next(one["outputs"]["hex"] for one in resources if one["urn"].endswith("::birth")))


@pytest.mark.golden
def test_the_cluster_s_resources_are_those_of_the_golden_file(stacks: Stacks) -> None:
    beside = {name: stacks.state(name) for name in (HOME, SECOND)}
    golden.compare(HERE / "golden/main.yaml", golden.resources(stacks.state(CLUSTER), beside))


def test_nothing_is_left_to_do(stacks: Stacks) -> None:
    stacks.pulumi(CLUSTER, "preview", "--refresh", "--expect-no-changes")


def test_the_state_holds_no_key_in_the_open(stacks: Stacks) -> None:
    shown = stacks.pulumi(CLUSTER, "stack", "export", "--show-secrets")
    secrets = set(re.findall(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\\\\n)([A-Za-z0-9+/]{40})", shown))
    assert len(secrets) >= 30
    text = json.dumps(stacks.state(CLUSTER))
    assert not [secret for secret in secrets if secret in text]
    assert "PRIVATE KEY" not in text


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_finds_a_bundle_that_its_custom_data_s_key_vouches_for(
    azure: LocalAzure, stacks: Stacks, world: World, name: str
) -> None:
    resources = stacks.state(CLUSTER)["checkpoint"]["latest"]["resources"]
    of = [one for one in resources if one["type"].endswith(":VirtualMachine")]
    made = next(one for one in of if one["urn"].rpartition("::")[2] == name.removeprefix("main-"))
    script = base64.b64decode(made["inputs"]["osProfile"]["customData"]).decode()
    pointer = json.loads(re.search(r"^\w+={(\".*)}$", script, re.MULTILINE)[0].partition("=")[2])  # type: ignore[index]
    assert pointer["prefix"] == f"example/main/{name}"
    container = blobs(azure, world, as_machine(azure, world, name, "storage.azure.com"))
    sealed = json.loads(container.download_blob(f"{pointer['prefix']}/manifest.json").readall())
    key = load_der_public_key(base64.b64decode(pointer["key"]))
    assert isinstance(key, Ed25519PublicKey)
    key.verify(base64.b64decode(sealed["signature"]), sealed["manifest"].encode())
    told = json.loads(sealed["manifest"])
    files = json.loads(container.download_blob(f"{pointer['prefix']}/{told['version']}.json").readall())
    secret = (pointer["prefix"] + pointer["life"]).replace("/", "--")
    mine = vault(azure, world, as_machine(azure, world, name, "vault.azure.net"))
    keys = json.loads(mine.get_secret(secret, told["secret_version"]).value or "")
    for part, given in (("files", files), ("keys", keys)):
        assert {path: entry["sha256"] for path, entry in told[part].items()} == {
            path: hashlib.sha256(text.encode()).hexdigest() for path, text in given.items()
        }
    assert "PRIVATE KEY" not in json.dumps(files)
    assert json.loads(files["/etc/landbridge/cloud.json"]) == {"cloud": "azure"}


def test_a_machine_may_read_its_own_lay_down_what_is_its_role_s_and_nothing_else(
    azure: LocalAzure, stacks: Stacks, world: World
) -> None:
    storage = {name: as_machine(azure, world, name, "storage.azure.com") for name in MACHINES}
    etcd, api = blobs(azure, world, storage["main-etcd-1"]), blobs(azure, world, storage["main-api-1"])
    assert refused(lambda: etcd.download_blob("example/main/main-etcd-2/manifest.json").readall())
    etcd.upload_blob("backups/main/main/2026-01-01T000000Z-1.db", b"x")
    assert [one.name for one in etcd.list_blobs(name_starts_with="backups/main/main/")]
    assert refused(lambda: list(etcd.list_blobs(name_starts_with="audit/main/")))
    assert refused(lambda: list(etcd.list_blobs()))
    assert refused(lambda: etcd.download_blob("backups/main/main/2026-01-01T000000Z-1.db").readall())
    assert refused(lambda: etcd.delete_blob("backups/main/main/2026-01-01T000000Z-1.db"))
    assert refused(lambda: etcd.upload_blob("example/main/main-etcd-1/manifest.json", b"x", overwrite=True))
    assert refused(lambda: etcd.upload_blob("audit/main/main-etcd-1/x", b"x"))
    api.upload_blob("audit/main/main-api-1/x", b"x")
    assert refused(lambda: list(api.list_blobs(name_starts_with="audit/main/")))
    assert refused(lambda: api.upload_blob("backups/main/main/x", b"x"))
    there = blobs(azure, world, storage["main-etcd-1"], SECOND)
    there.upload_blob(f"copies/{HOME}/main/main/x", b"x")
    assert refused(lambda: there.upload_blob("copies/elsewhere/main/main/x", b"x"))
    assert refused(
        lambda: blobs(azure, world, storage["main-api-1"], SECOND).upload_blob(f"copies/{HOME}/main/x", b"x")
    )
    keys = vault(azure, world, as_machine(azure, world, "main-etcd-1", "vault.azure.net"))
    life = birth(stacks)
    for other in ("main-etcd-2", "admin", "break-glass", "recovery"):
        assert refused(lambda other=other: keys.get_secret(f"example--main--{other}--{life}")), other


def test_each_machine_has_its_planned_address_and_its_own_disks(
    azure: LocalAzure, stacks: Stacks, world: World
) -> None:
    assert stacks
    plan = world.plan.region(HOME).zones
    planned = {name: (zone, address) for zone, at in plan.items() for name, address in at.addresses.items()}
    for name in MACHINES:
        told = machine(azure, world, name)
        zone, address = planned[name.replace("main-", "main/", 1)]
        (nic,) = told["properties"]["networkProfile"]["networkInterfaces"]
        card = azure.ask("GET", nic["id"]).json()["properties"]["ipConfigurations"][0]["properties"]
        assert (told["zones"], card["privateIPAddress"]) == ([zone], address)
        assert card["subnet"]["id"].endswith(f"/fixed-{zone}")
        assert "publicIPAddress" not in card
        disks = told["properties"]["storageProfile"]["dataDisks"]
        assert [one["lun"] for one in disks] == ([0, 1] if "etcd" in name else [])
        assert told["properties"]["securityProfile"]["uefiSettings"] == {
            "secureBootEnabled": False,
            "vTpmEnabled": True,
        }
    balancer = azure.ask("GET", f"{place(world)}/{NETWORK}/loadBalancers/example-main-api").json()["properties"]
    (pool,) = balancer["backendAddressPools"]
    assert len(pool["properties"]["backendIPConfigurations"]) == 2
    (frontend,) = balancer["frontendIPConfigurations"]
    oldest = next(iter(plan.values()))
    assert frontend["properties"]["privateIPAddress"] == oldest.addresses["main/balancer"]


def test_everybody_reads_the_issuer_s_two_documents_and_no_list(
    azure: LocalAzure, stacks: Stacks, world: World
) -> None:
    assert stacks
    url = issuers.url(world.fleet, "main").rpartition("/")[0]
    container = BlobServiceClient(url, None, transport=azure.transport(), retry_total=0).get_container_client("issuer")
    configuration, keys = (json.loads(container.download_blob(name).readall()) for name in issuers.DOCUMENTS)
    assert configuration["issuer"] == issuers.url(world.fleet, "main")
    assert {key["kty"] for key in keys["keys"]} == {"RSA"}
    with pytest.raises(Exception, match=r"ResourceNotFound|NoAuthenticationInformation|does not exist|not authorized"):
        list(container.list_blobs())


def steps(stacks: Stacks, change: str, **more: str) -> list[tuple[str, str, str]]:
    said = stacks.pulumi(CLUSTER, "preview", "--json", change=change, **more)
    listed = json.loads(said[said.index("{") :])["steps"]
    return [
        (one["op"], one["urn"].split("$")[-1].split("::")[0], one["urn"].rpartition("::")[2])
        for one in listed
        if one["op"] not in ("same", "read")
    ]


def test_one_flag_changes_bundles_and_manifests_alone(stacks: Stacks) -> None:
    found = steps(stacks, ONE_FLAG)
    assert {type_ for _, type_, _ in found} == {"azure-native:storage:Blob"}
    assert {name for _, _, name in found} == {"api-1-files", "api-1-manifest", "api-2-files", "api-2-manifest"}


def test_another_size_leaves_machines_alone_and_is_one_s_alone_where_a_roll_names_it(stacks: Stacks) -> None:
    assert steps(stacks, OTHER_SIZE) == []
    found = Counter(name for _, _, name in steps(stacks, OTHER_SIZE, LANDBRIDGE_ROLLED="main-etcd-2"))
    assert set(found) == {"etcd-2"}


def test_a_changed_flag_and_a_lost_address_come_right(azure: LocalAzure, stacks: Stacks, world: World) -> None:
    """Changed, and drift: by an `up` alone, and by one that looks first."""
    before = machine(azure, world, "main-api-1")["properties"]["vmId"]
    stacks.up(CLUSTER, change=ONE_FLAG)
    container = blobs(azure, world, as_machine(azure, world, "main-api-1", "storage.azure.com"))
    sealed = json.loads(container.download_blob("example/main/main-api-1/manifest.json").readall())
    version = json.loads(sealed["manifest"])["version"]
    files = json.loads(container.download_blob(f"example/main/main-api-1/{version}.json").readall())
    assert "--goaway-chance=0.002" in files["/etc/systemd/system/kube-apiserver.service"]
    assert machine(azure, world, "main-api-1")["properties"]["vmId"] == before
    record = f"{place(world)}/{NETWORK}/privateDnsZones/{HOME}.fleet.example.com/A/main-etcd-1"
    assert azure.ask("DELETE", record, version="2024-06-01").status_code == 200
    stacks.up(CLUSTER, "--refresh")
    assert azure.ask("GET", record, version="2024-06-01").status_code == 200
    stacks.up(CLUSTER, "--expect-no-changes")


def test_a_destroyed_cluster_leaves_its_data_and_comes_up_again(
    azure: LocalAzure, stacks: Stacks, world: World
) -> None:
    """The last of all. A vault keeps the names of deleted secrets: those of the next life are others."""
    first = birth(stacks)
    assert "protected" in stacks.pulumi(CLUSTER, "destroy", "--yes", "--skip-preview", code=None)
    stacks.pulumi(CLUSTER, "state", "unprotect", "--all", "--yes")
    stacks.pulumi(CLUSTER, "destroy", "--yes", "--skip-preview")
    resources = [one["type"] for one in stacks.state(CLUSTER)["checkpoint"]["latest"].get("resources") or ()]
    assert [one for one in resources if not one.startswith("pulumi:")] == []
    left = azure.own("inventory")
    mine = [one for one in json.dumps(left).split('"') if "/virtualMachines/" in one or "loadBalancers/" in one]
    assert mine == []
    disks = azure.ask("GET", f"{place(world)}/{COMPUTE}/disks", version="2024-03-02").json()["value"]
    kept = {disk["id"] for disk in disks}
    assert len(kept) == 6
    stacks.up(CLUSTER)
    assert birth(stacks) != first
    disks = azure.ask("GET", f"{place(world)}/{COMPUTE}/disks", version="2024-03-02").json()["value"]
    assert kept < {disk["id"] for disk in disks}, "those of the life before are there still"
    mine = {
        one["managedDisk"]["id"]
        for one in machine(azure, world, "main-etcd-1")["properties"]["storageProfile"]["dataDisks"]
    }
    assert len(mine) == 2
    assert not mine & kept
