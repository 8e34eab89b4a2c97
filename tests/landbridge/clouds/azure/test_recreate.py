"""A machine of one in Azure on the real engine: `up` leaves it as it was born, and only what is rolled is made anew."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet import rolling
from landbridge.clouds.azure import recreate
from landbridge.clouds.cloud import CloudError
from landbridge.places import Place, written_whole
from tests.local.azure.conftest import azure  # noqa: F401
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.local.providers.azure.project import Plugins, Project, plugins
from tests.support.cloud import ROOT

PROGRAM = """\
import sys
sys.path.insert(0, {root!r})
from fleet.rolling import keeps

group = az.resources.ResourceGroup("g", resource_group_name="rolled", opts=opts)
network = az.network.VirtualNetwork("v", resource_group_name=group.name, virtual_network_name="v",
    address_space={{"address_prefixes": ["10.1.0.0/16"]}}, subnets=[{{"name": "fixed-1", "address_prefix": "10.1.1.0/24"}}],
    opts=opts)
for number, name in enumerate(("main-etcd-1", "main-etcd-2")):
    card = az.network.NetworkInterface(name, resource_group_name=group.name, network_interface_name=name,
        ip_configurations=[{{"name": "main", "private_ip_allocation_method": "Static",
            "private_ip_address": f"10.1.1.{{number + 10}}",
            "subnet": {{"id": network.subnets[0].id}}}}], opts=opts)
    disk = az.compute.Disk(name, resource_group_name=group.name, disk_name=f"{{name}}-data", disk_size_gb=8, zones=["1"],
        creation_data={{"create_option": "Empty"}}, sku={{"name": "Premium_LRS"}}, opts=opts)
    az.compute.VirtualMachine(name, resource_group_name=group.name, vm_name=name, zones=["1"],
        hardware_profile={{"vm_size": {size!r}}},
        os_profile={{"computer_name": name, "admin_username": "nobody", "custom_data": {data!r},
            "linux_configuration": {{"disable_password_authentication": True, "ssh": {{"public_keys": [
                {{"path": "/home/nobody/.ssh/authorized_keys", "key_data": {key!r}}}]}}}}}},
        storage_profile={{
            "image_reference": {{"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}},
            "os_disk": {{"create_option": "FromImage", "delete_option": "Delete",
                "managed_disk": {{"storage_account_type": "Premium_LRS"}}}},
            "data_disks": [{{"lun": 0, "create_option": "Attach", "delete_option": "Detach",
                "managed_disk": {{"id": disk.id}}}}]}},
        network_profile={{"network_interfaces": [{{"id": card.id}}]}},
        tags={{"landbridge:cluster": "main", "landbridge:machine": name, "landbridge:kubernetes": {kubernetes!r},
            "more": {more!r}}},
        opts=pulumi.ResourceOptions(provider=here, delete_before_replace=True, ignore_changes=keeps(name)))
"""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaMDEyMzQ1 nobody"
BEFORE = {"size": "Standard_D2s_v5", "data": "one", "kubernetes": "1.36.2", "more": "x"}
AFTER = {"size": "Standard_D4s_v5", "data": "two", "kubernetes": "1.37.0", "more": "y"}

pytestmark = pytest.mark.cloud


def program(told: dict[str, str]) -> str:
    data = base64.b64encode(told["data"].encode()).decode()
    return PROGRAM.format(root=str(ROOT), key=KEY, **{**told, "data": data})


@pytest.fixture(scope="module")
def made(azure: LocalAzure) -> Iterator[Plugins]:  # noqa: F811
    yield from plugins(azure)


@pytest.fixture
def project(tmp_path: Path, made: Plugins, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("LANDBRIDGE_PROVIDER_PORT", str(made.port))
    monkeypatch.delenv(rolling.ROLLED, raising=False)
    return Project(tmp_path / "project", made)


def place(project: Project) -> Place:
    backend = written_whole(f"file://{project.folder}/state")
    environment = {"PULUMI_BACKEND_URL": backend, "PULUMI_CONFIG_PASSPHRASE": "x"}
    more = {"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
    logs = project.folder / "logs"
    return Place("real", project.folder, backend, "passphrase", logs, {**environment, **more})


class Here(Place):
    """Its stack's file is that of the test's own project."""

    def stack_file(self, stack: str) -> Path | None:
        return self.state_folder and self.state_folder / "stacks/p" / f"{stack}.json"


def look(project: Project, name: str) -> dict[str, Any]:
    path = f"/resourceGroups/rolled/providers/Microsoft.Compute/virtualMachines/{name}"
    body = project.made.azure.ask("GET", f"/subscriptions/{SUBSCRIPTION}{path}").json()
    told = body["properties"]
    return {
        "id": told["vmId"],
        "size": told["hardwareProfile"]["vmSize"],
        "kubernetes": body["tags"]["landbridge:kubernetes"],
        "more": body["tags"]["more"],
        "disk": told["storageProfile"]["dataDisks"][0]["managedDisk"]["id"],
        "card": told["networkProfile"]["networkInterfaces"][0]["id"],
    }


def test_up_leaves_machines_as_they_were_born_and_a_roll_makes_one_anew(project: Project) -> None:
    at = Here(**vars(place(project)))
    project.program(program(BEFORE))
    project.up()
    first = {name: look(project, name) for name in ("main-etcd-1", "main-etcd-2")}
    assert first["main-etcd-1"]["size"] == BEFORE["size"]
    project.program(program(AFTER))
    project.up()
    changed = {name: {**told, "more": "y"} for name, told in first.items()}
    assert {name: look(project, name) for name in first} == changed, "no birth is changed by an up"
    recreate.recreate(at, "dev", "main-etcd-1")
    new = look(project, "main-etcd-1")
    assert new["id"] != first["main-etcd-1"]["id"]
    assert {**new, "id": ""} == {**changed["main-etcd-1"], "id": "", "size": AFTER["size"], "kubernetes": "1.37.0"}
    assert look(project, "main-etcd-2") == changed["main-etcd-2"], "only one machine is made anew"
    project.up("--expect-no-changes")
    # One that is gone from the cloud comes back in the same way.
    there = project.made.azure
    ends = there.ask("DELETE", azure_id(project, "main-etcd-2"))
    assert ends.status_code in (200, 202)
    there.own("finish", {}, "POST")
    recreate.recreate(at, "dev", "main-etcd-2")
    assert look(project, "main-etcd-2")["size"] == AFTER["size"]
    # What Azure refuses is told with what to do, and the next try goes on from there.
    match = {"method": "PUT", "type": "Microsoft.Compute/virtualMachines"}
    there.own("faults", [{"match": match, "status": 409, "code": "AllocationFailed", "message": "No capacity."}])
    with pytest.raises(
        CloudError, match=r"main-etcd-1 could not be made anew: .*AllocationFailed.*run this again later"
    ):
        recreate.recreate(at, "dev", "main-etcd-1")
    there.own("faults", [])
    assert look(project, "main-etcd-2")["size"] == AFTER["size"]
    recreate.recreate(at, "dev", "main-etcd-1")
    assert look(project, "main-etcd-1")["disk"] == new["disk"]
    with pytest.raises(CloudError, match=r"main-etcd-3 is not in the stack dev. `landbridge up dev` makes it"):
        recreate.recreate(at, "dev", "main-etcd-3")


def azure_id(project: Project, name: str) -> str:
    resources = json.loads(project.pulumi("stack", "export"))["deployment"]["resources"]
    return next(
        str(one["id"]) for one in resources if one["type"] == recreate.MACHINE_TYPE and one["id"].endswith(f"/{name}")
    )
