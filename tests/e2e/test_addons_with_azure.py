"""Add-ons of a cluster at home in AWS with a region of Azure, on the real engine, against its real API server.

Scale sets are made by hand where the pool's own stack would: what add-ons ask of them is that they are there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.addons import azure_team_pods
from components.addons.azure_autoscaler import AUDIENCE, CLIENT_ID, IDENTITY
from components.storage.mounts import FILES_DOMAIN
from fleet import autoscaler
from landbridge.places import written_whole
from tests.e2e.test_region_on_azure import SUBSCRIPTION
from tests.services.autoscaler.azure_bed import scale_set
from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, ROOT

# A control plane and two machines, where others work on the machine, too.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1500)]
FLEET = f"""\
fleet: both
owner: ops
domain: both.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: 00000000-0000-4000-8000-000000000001}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b]}}
  southcentralus: {{cloud: azure, zones: ["1"]}}
storage:
  shares: {{data: {{path: /data}}}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  cpu: {{kind: cpu, cluster: main, region: us-west-2, owner: ops, instance_type: c7i.xlarge, max: 1}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}}
  south-gpu: {{kind: gpu, cluster: main, region: southcentralus, owner: ops, instance_type: Standard_ND96isr_H100_v5, gpus: 8, max: 4}}
teams:
  ops: {{gid: 2000}}
"""
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/both-southcentralus"
SETS = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets"
STACK = "main-addons"
PROGRAM = f"""\
import runpy, sys
sys.path.insert(0, {str(ROOT)!r})
runpy.run_path({str(ROOT / "stacks")!r}, run_name="__main__")
"""
# Signs in as the pod does, and sizes a scale set.
AS_THE_POD = """\
import sys
from azure.identity import ClientAssertionCredential
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute import ComputeManagementClient
tenant, client, token, subscription, group = sys.argv[1:]
own = ClientAssertionCredential(tenant, client, lambda: token)
sets = ComputeManagementClient(own, subscription).virtual_machine_scale_sets
print(sorted(one.name for one in sets.list(group)))
for name in ("both-south-gpu-1", "other"):
    try:
        sets.begin_update(group, name, {"sku": {"capacity": 1}}).result()
        print(name, "sized")
    except HttpResponseError as error:
        print(name, error.error.code)
"""


class Bed:
    """The cluster with its system machines, and the program of its add-ons."""

    def __init__(self, folder: Path) -> None:
        self.cloud = clouds.make(folder, FLEET)
        self.project = folder / "project"
        self.project.mkdir()
        (self.project / "__main__.py").write_text(PROGRAM)
        plugins = "".join(
            f"    - {{name: {name}, path: {ROOT / 'local/plugins' / name}}}\n"
            for name in ("aws", "azure-native", "kubernetes", "tls", "random")
        )
        python = f"{{name: python, options: {{virtualenv: {sys.prefix}}}}}"
        (self.project / "Pulumi.yaml").write_text(
            f"name: landbridge\nruntime: {python}\nplugins:\n  providers:\n{plugins}"
        )

    def up(self) -> None:
        self.cloud.run("up", "--local", "--yes", "us-west-2", "southcentralus", "main", "system", seconds=900)
        network = f"{GROUP}/providers/Microsoft.Network/virtualNetworks"
        (made,) = self.cloud.azure("GET", network)["value"]
        subnet = f"{made['id']}/subnets/private-1"
        for name in ("both-south-gpu-1", "other"):
            self.cloud.azure("PUT", f"{SETS}/{name}", scale_set(subnet, "main", False), "2024-07-01")
        self.pulumi("stack", "init", STACK)

    def pulumi(self, *arguments: str) -> str:
        path = os.pathsep.join([str(ROOT / ".landbridge/bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {
            "PATH": path,
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.cloud.home / 'local/both/state'}"),
            "PULUMI_CONFIG_PASSPHRASE": "local",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "LANDBRIDGE_FLEET": str(self.cloud.fleet),
        }
        command = ["env", "-C", str(self.project), *(f"{key}={value}" for key, value in settings.items())]
        full = [COMMAND, "local", "exec", "--", *command, "pulumi", "--non-interactive", *arguments]
        env = self.cloud._environment()
        done = subprocess.run(full, capture_output=True, text=True, env=env, timeout=600, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def kubectl(self, *words: str) -> str:
        words = (COMMAND, "kubectl", "--fleet", str(self.cloud.fleet), *words)
        env = self.cloud._environment()
        done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, *words: str) -> Any:
        return json.loads(self.kubectl("get", *words, "-o", "json"))


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    made = Bed(tmp_path_factory.mktemp("addons"))
    try:
        made.up()
        made.pulumi("up", "--yes", "--skip-preview", "-s", STACK)
        yield made
    finally:
        made.cloud.stop()


def test_it_is_up_and_stays_unchanged(bed: Bed) -> None:
    said = bed.pulumi("up", "--yes", "--skip-preview", "--refresh", "--expect-no-changes", "-s", STACK)
    assert "error" not in said.lower()
    outputs = json.loads(bed.pulumi("stack", "output", "--json", "-s", STACK))
    assert outputs["autoscaler"] == "kube-system/cluster-autoscaler"
    assert outputs["regions"] == ["southcentralus", "us-west-2"]


def test_what_azure_s_nodes_get_is_in_the_cluster(bed: Bed) -> None:
    sets = {one["metadata"]["name"] for one in bed.get("daemonsets", "-n", "kube-system")["items"]}
    assert {"csi-nfs-node", "csi-efs-node", "rdma-shared-device-plugin-azure", "nvidia-device-plugin"} <= sets
    volume = bed.get("persistentvolume", "main.team-ops.data-southcentralus")["spec"]
    assert volume["csi"]["volumeAttributes"]["server"].endswith(FILES_DOMAIN)
    claim = bed.get("persistentvolumeclaim", "-n", "team-ops", "data-southcentralus")
    assert claim["status"]["phase"] == "Bound"


def test_the_autoscaler_s_pod_signs_in_to_azure_and_sizes_its_own_scale_set_alone(bed: Bed) -> None:
    client = bed.get("configmap", "-n", autoscaler.SPACE, IDENTITY)["data"][CLIENT_ID]
    asked = ("create", "token", autoscaler.ACCOUNT, "-n", autoscaler.SPACE, f"--audience={AUDIENCE}")
    token = bed.kubectl(*asked).strip()
    tenant = "00000000-0000-4000-8000-000000000001"
    where = (tenant, client, token, SUBSCRIPTION, "both-southcentralus")
    told = bed.cloud.inside(sys.executable, "-c", AS_THE_POD, *where).splitlines()
    assert told == ["['both-south-gpu-1', 'other']", "both-south-gpu-1 sized", "other AuthorizationFailed"]


def test_teams_pods_are_told_their_identity(bed: Bed) -> None:
    told = bed.get("configmap", "-n", "team-ops", azure_team_pods.IDENTITY)["data"]
    identities = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
    (made,) = [
        one for one in bed.cloud.azure("GET", identities, version="2023-01-31")["value"] if "storage" in one["name"]
    ]
    assert told == {azure_team_pods.CLIENT_ID: made["properties"]["clientId"]}


def test_no_credential_is_in_the_state(bed: Bed) -> None:
    text = (bed.cloud.home / f"local/both/state/.pulumi/stacks/landbridge/{STACK}.json").read_text()
    assert "PRIVATE KEY" not in text
    assert "eyJ" not in text, "a token"


def test_destroy_takes_rights_and_identity_with_it(bed: Bed) -> None:
    bed.pulumi("destroy", "--yes", "--skip-preview", "-s", STACK)
    left = bed.cloud.azure_inventory()
    assert not left.get("Microsoft.ManagedIdentity/userAssignedIdentities")
    assert "autoscaler" not in str(left.get("Microsoft.Authorization/roleDefinitions", ""))
    assert bed.cloud.azure("GET", f"{SETS}/both-south-gpu-1", version="2024-07-01")["name"] == "both-south-gpu-1"
