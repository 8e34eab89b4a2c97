"""Two pools in the local Azure, a gallery for their images, and a real API server; kubelets are played."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from azure.mgmt.compute import ComputeManagementClient

from components.pools.names import Names
from fleet.azure import images
from fleet.buckets import resource_group
from fleet.loader import load
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.azure.cloud import Azure
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.places import Place
from local.azure.sign_in import TENANT
from tests.landbridge.pool.kubelets import Kubelets
from tests.local.azure.machines import scale_set, subnet
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.support.apiserver import Server
from tests.support.cloud import ROOT

REGION = "southcentralus"
PLACE = Place("local", ROOT, "file:///dev/null", "passphrase", ROOT)
SIZE, GPU_SIZE = "Standard_D2s_v5", "Standard_NC4as_T4_v3"
FLEET = f"""\
fleet: both
owner: ops
domain: both.example.com
supernet: 10.128.0.0/12
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  {REGION}: {{cloud: azure, zones: ["1", "2"]}}
clusters:
  main: {{region: {REGION}, kubernetes: 1.36.2}}
pools:
  big: {{kind: gpu, cluster: main, region: {REGION}, owner: ops, instance_type: {GPU_SIZE}, gpus: 1, max: 6}}
  cpu: {{kind: cpu, cluster: main, region: {REGION}, owner: ops, instance_type: {SIZE}, max: 4}}
  system: {{kind: system, cluster: main, region: {REGION}, owner: ops, instance_type: {SIZE}, min: 2, max: 4}}
teams:
  ops: {{gid: 2000}}
"""


class Here(Session):
    """A session whose cloud is the local Azure on loopback."""

    def __init__(self, azure: LocalAzure, path: Path, config: str) -> None:
        info = SimpleNamespace(name="main", region=REGION, cloud="azure")
        world = SimpleNamespace(fleet=load(path), path=path)
        super().__init__(world, PLACE, info)  # type: ignore[arg-type]
        clients = Clients(SUBSCRIPTION, transport=azure.transport())
        clients.__dict__["credential"] = azure.credential()
        self.azure, self.config = Azure(clients, world.fleet, REGION, lambda *_: None), config

    def cloud_at(self, region: str, *, hasty: bool = False) -> Azure:
        return self.azure

    @cached_property
    def admin(self) -> Kube:
        return Kube(self.config)


class Bed(Kubelets):
    def __init__(self, azure: LocalAzure, session: Here, api: Server) -> None:
        super().__init__(api)
        self.azure, self.session = azure, session
        self.fleet, self.compute = session.world.fleet, azure.client(ComputeManagementClient)
        self.group = resource_group(self.fleet, REGION)
        self.place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{self.group}"
        self.gallery = images.image_id(self.fleet, "1.36.2").partition("/images/")[0]
        self.told: list[str] = []

    def put(self, path: str, body: Any, version: str = "2024-05-01") -> None:
        answer = self.azure.put(path, body, version)
        assert answer.status_code in (200, 201, 202), answer.text
        self.azure.own("finish", {}, "POST")

    def build(self) -> None:
        self.put(self.place, {"location": REGION})
        self.put(self.gallery.partition("/providers/")[0], {"location": REGION})
        self.put(self.gallery, {"location": REGION, "properties": {}}, "2024-03-03")
        self.subnet = subnet(self.azure, self.place)
        for pool in self.fleet.pools:
            self.promote(pool, "1.0.0")
            for told in Names(self.fleet).scaling(pool):
                self.scale(told.name, pool, told.zones, 0)

    def scale(self, name: str, pool: str, zones: tuple[str, ...], capacity: int) -> None:
        """As the pool's stack would by an `up`: the image is the one that the channel says now."""
        body = scale_set(self.subnet, capacity, zones=zones)
        profile = body["properties"]["virtualMachineProfile"]
        profile["osProfile"]["computerNamePrefix"] = f"{name}-"
        profile["storageProfile"]["imageReference"] = {"id": self.image(pool)}
        self.put(f"{self.place}/providers/Microsoft.Compute/virtualMachineScaleSets/{name}", body, "2024-07-01")

    def up(self, pool: str) -> None:
        for told in Names(self.fleet).scaling(pool):
            self.scale(told.name, pool, told.zones, self.capacity(told.name))

    def definition(self, pool: str) -> str:
        return images.of_pool(self.fleet, pool)

    def image(self, pool: str) -> str:
        tags = self.azure.ask("GET", self.definition(pool), version="2024-03-03").json()["tags"]
        return f"{self.definition(pool)}/versions/{images.channel_version(tags, REGION)}"

    def promote(self, pool: str, version: str) -> None:
        """A version of that number, which the pool's channel then says."""
        definition, sku = self.definition(pool), self.definition(pool).rpartition("/")[2]
        identifier = {"publisher": "landbridge", "offer": "both", "sku": sku}
        about = {"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2", "identifier": identifier}
        tags = {images.tag("stable", REGION): f"{version} by a test"}
        self.put(definition, {"location": REGION, "properties": about, "tags": tags}, "2024-03-03")
        disk = f"{self.place}/providers/Microsoft.Compute/disks/source"
        empty = {
            "creationData": {"createOption": "Empty"},
            "diskSizeGB": 8,
            "osType": "Linux",
            "hyperVGeneration": "V2",
        }
        self.put(disk, {"location": REGION, "sku": {"name": "Premium_LRS"}, "properties": empty}, "2024-03-02")
        source = {"osDiskImage": {"source": {"id": disk}}}
        properties = {"publishingProfile": {"targetRegions": [{"name": REGION}]}, "storageProfile": source}
        marked = {
            "landbridge:kubernetes": "1.36.2",
            "landbridge:driver": "played",
            "landbridge:image": f"bake-{version}",
        }
        body = {"location": REGION, "tags": marked, "properties": properties}
        self.put(f"{definition}/versions/{version}", body, "2024-03-03")

    def sets(self, pool: str) -> list[str]:
        return list(Names(self.fleet).groups(pool))

    def capacity(self, name: str) -> int:
        return int(self.compute.virtual_machine_scale_sets.get(self.group, name).sku.capacity)

    def machines(self, pool: str) -> dict[str, str]:
        """By computer's name, what is made of each."""
        vms = self.compute.virtual_machine_scale_set_vms
        listed = [one for name in self.sets(pool) for one in vms.list(self.group, name)]
        return {one.properties.os_profile.computer_name.lower(): one.properties.provisioning_state for one in listed}

    def joining_pools(self) -> Iterable[str]:
        return self.fleet.pools

    def live(self, pool: str) -> set[str]:
        return {name for name, state in self.machines(pool).items() if state == "Succeeded"}


def make(azure: LocalAzure, folder: Path, api: Server) -> Iterator[Bed]:
    (folder / "fleet.yaml").write_text(FLEET)
    bed = Bed(azure, Here(azure, folder / "fleet.yaml", api.kubeconfig()), api)
    bed.build()
    with bed.playing():
        yield bed
