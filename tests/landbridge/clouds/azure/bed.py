"""A region of Azure with a cluster's parts in it, as far as commands look at them: before the local Azure, by HTTP."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.compute import ComputeManagementClient

from fleet.buckets import bucket_name, resource_group, vault_name
from fleet.loader import load
from fleet.model import Fleet
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.azure.cloud import Azure
from landbridge.cluster.info import ClusterInfo, MachineInfo
from local.azure.sign_in import TENANT
from local.azure.tokens import DEPLOYER
from tests.local.azure.machines import interface, machine, subnet
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

REGION = "southcentralus"
FLEET = f"""\
fleet: both
owner: ops
domain: both.example.com
supernet: 10.128.0.0/12
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1"]}}
teams:
  ops: {{gid: 2000}}
"""
OFFICER, CONTRIBUTOR = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
NAMES = ("main-etcd-1", "main-api-1")
VAULT = {
    "tenantId": TENANT,
    "sku": {"family": "A", "name": "standard"},
    "enableRbacAuthorization": True,
    "softDeleteRetentionInDays": 7,
}


class Bed:
    """One region's parts. `made` are machines that commands wanted made anew."""

    def __init__(self, azure: LocalAzure, fleet: Fleet) -> None:
        self.azure, self.fleet, self.made = azure, fleet, list[str]()
        self.group = resource_group(fleet, REGION)
        self.place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{self.group}"
        self.compute = azure.client(ComputeManagementClient)
        clients = Clients(SUBSCRIPTION, transport=azure.transport())
        clients.__dict__["credential"] = azure.credential()
        self.cloud = Azure(clients, fleet, REGION, lambda _info, machine: self.made.append(machine))
        self.addresses: dict[str, str] = {}

    @property
    def info(self) -> ClusterInfo:
        machines = {
            name: MachineInfo(name, name.split("-")[1], "1", self.addresses.get(name, ""), "", "") for name in NAMES
        }
        given = dict.fromkeys(ClusterInfo._fields, "")
        more = {"name": "main", "cloud": "azure", "region": REGION, "prefix": "both/main", "machines": machines}
        return ClusterInfo(**{**given, **more})  # type: ignore[arg-type]

    def put(self, path: str, body: Any, version: str = "2024-05-01") -> None:
        answer = self.azure.put(f"{self.place}/providers/{path}", body, version)
        assert answer.status_code in (200, 201, 202), answer.text

    def account(self) -> str:
        name = bucket_name(self.fleet, REGION)
        account = f"Microsoft.Storage/storageAccounts/{name}"
        self.put(account, {"location": REGION, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}})
        self.azure.ask("GET", f"{self.place}/providers/{account}")
        self.put(f"{account}/blobServices/default", {"properties": {}})
        self.put(f"{account}/blobServices/default/containers/fleet", {"properties": {}})
        return name

    def vault(self) -> None:
        path = f"Microsoft.KeyVault/vaults/{vault_name(self.fleet, REGION)}"
        self.put(path, {"location": REGION, "properties": VAULT}, "2023-07-01")
        self.azure.ask("GET", f"{self.place}/providers/{path}")

    def assign(self, role: str) -> None:
        roles = self.azure.client(AuthorizationManagementClient)
        definition = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        told = {"roleDefinitionId": definition, "principalId": DEPLOYER}
        roles.role_assignments.create(self.place, str(uuid.uuid4()), {"properties": told})

    def machines(self) -> None:
        """One of each role, and one of nobody's cluster."""
        private = subnet(self.azure, self.place)
        for name in (*NAMES, "other"):
            body = machine(interface(self.azure, private, f"{name}-nic"))
            tags = {"landbridge:cluster": "main", "landbridge:machine": name, "landbridge:kubernetes": "1.36.2"}
            body["tags"] = tags if name in NAMES else {"landbridge:cluster": "else", "landbridge:machine": name}
            self.compute.virtual_machines.begin_create_or_update(self.group, name, body).result()
            card = self.azure.ask(
                "GET", f"{self.place}/providers/Microsoft.Network/networkInterfaces/{name}-nic"
            ).json()
            told = card["properties"]["ipConfigurations"][0]["properties"]
            self.addresses[name] = told["privateIPAddress"]

    def balancer(self, *members: str) -> None:
        """As the control plane's, with the cards of these machines behind it."""
        path = f"{self.place}/providers/Microsoft.Network/loadBalancers/both-main-api"
        network = f"{self.place}/providers/Microsoft.Network/virtualNetworks/network"
        front = {"subnet": {"id": f"{network}/subnets/private-1"}}
        rule = {
            "frontendIPConfiguration": {"id": f"{path}/frontendIPConfigurations/front"},
            "backendAddressPool": {"id": f"{path}/backendAddressPools/api"},
            "probe": {"id": f"{path}/probes/ready"},
            "protocol": "Tcp",
            "frontendPort": 6443,
            "backendPort": 6443,
        }
        probe = {"protocol": "Https", "port": 6443, "requestPath": "/readyz?exclude=x", "intervalInSeconds": 5}
        properties = {
            "frontendIPConfigurations": [{"name": "front", "properties": front}],
            "backendAddressPools": [{"name": "api"}],
            "probes": [{"name": "ready", "properties": probe}],
            "loadBalancingRules": [{"name": "api", "properties": rule}],
        }
        told = {"location": REGION, "sku": {"name": "Standard"}, "properties": properties}
        self.put("Microsoft.Network/loadBalancers/both-main-api", {**told, "tags": {"landbridge:stack": "main"}})
        for name in members:
            one = {"subnet": front["subnet"], "loadBalancerBackendAddressPools": [rule["backendAddressPool"]]}
            configuration = {"ipConfigurations": [{"name": "primary", "properties": one}]}
            self.put(
                f"Microsoft.Network/networkInterfaces/{name}-nic", {"location": REGION, "properties": configuration}
            )


def make(azure: LocalAzure, folder: Path) -> Iterator[Bed]:
    (folder / "fleet.yaml").write_text(FLEET)
    bed = Bed(azure, load(folder / "fleet.yaml"))
    assert azure.put(bed.place, {"location": REGION}).status_code == 201
    yield bed
    azure.own("faults", [])
    azure.ask("DELETE", bed.place)
