"""Add-ons of a cluster at home in AWS with a region of Azure, on the real engine, against its real API server.

Beside the pool's own scale set stands one that is none of the fleet's, and is made by hand.
"""

import json
import sys
from typing import Any

import pytest

from components.addons.azure import team_pods
from components.addons.azure.pod_role import AUDIENCE, CLIENT_ID, identity
from components.storage.mounts import FILES_DOMAIN
from fleet import autoscaler
from tests.e2e.test_lifecycle import changes, drift
from tests.e2e.test_rebuild import kubectl
from tests.services.autoscaler.azure.bed import scale_set
from tests.stacks.test_copies import outputs
from tests.support.cloud import Cloud

from ..worlds import SUBSCRIPTION, TENANT

# A control plane and two machines, where others work on the machine, too.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1500)]
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-southcentralus"
SETS = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets"
STACK = "main-addons"
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
for name in ("test-far-gpu-1", "other"):
    try:
        sets.begin_update(group, name, {"sku": {"capacity": 1}}).result()
        print(name, "sized")
    except HttpResponseError as error:
        print(name, error.error.code)
"""


@pytest.fixture(scope="module")
def cloud(in_both: Cloud) -> Cloud:
    (network,) = in_both.azure("GET", f"{GROUP}/providers/Microsoft.Network/virtualNetworks")["value"]
    foreign = scale_set(f"{network['id']}/subnets/private-1", "main", False)
    in_both.azure("PUT", f"{SETS}/other", foreign, "2024-07-01")
    return in_both


def get(cloud: Cloud, *words: str) -> Any:
    return json.loads(kubectl(cloud, "get", *words, "-o", "json"))


def test_it_is_up_and_stays_unchanged(cloud: Cloud) -> None:
    unchanged = changes(cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes"))
    assert set(unchanged[STACK]) == {"same"}
    assert drift(cloud, STACK) == set()
    told = outputs(cloud, STACK)
    assert told["autoscaler"] == "kube-system/cluster-autoscaler"
    assert told["regions"] == ["southcentralus", "us-west-2"]


def test_what_azure_s_nodes_get_is_in_the_cluster(cloud: Cloud) -> None:
    sets = {one["metadata"]["name"] for one in get(cloud, "daemonsets", "-n", "kube-system")["items"]}
    assert {"csi-nfs-node", "csi-efs-node", "rdma-shared-device-plugin-azure", "nvidia-device-plugin"} <= sets
    volume = get(cloud, "persistentvolume", "main.team-ops.data-southcentralus")["spec"]
    assert volume["csi"]["volumeAttributes"]["server"].endswith(FILES_DOMAIN)
    claim = get(cloud, "persistentvolumeclaim", "-n", "team-ops", "data-southcentralus")
    assert claim["status"]["phase"] == "Bound"


def test_the_autoscaler_s_pod_signs_in_to_azure_and_sizes_its_own_scale_set_alone(cloud: Cloud) -> None:
    client = get(cloud, "configmap", "-n", autoscaler.SPACE, identity(autoscaler.ACCOUNT))["data"][CLIENT_ID]
    asked = ("create", "token", autoscaler.ACCOUNT, "-n", autoscaler.SPACE, f"--audience={AUDIENCE}")
    token = kubectl(cloud, *asked).strip()
    where = (TENANT, client, token, SUBSCRIPTION, "test-southcentralus")
    told = cloud.inside(sys.executable, "-c", AS_THE_POD, *where).splitlines()
    sets = ["other", *(f"test-{name}" for name in ("desk-all", "far-gpu-1", "south-cpu-all", "south-gpu-1"))]
    assert told == [str(sets), "test-far-gpu-1 sized", "other AuthorizationFailed"]


def test_teams_pods_are_told_their_identity(cloud: Cloud) -> None:
    told = get(cloud, "configmap", "-n", "team-ops", team_pods.IDENTITY)["data"]
    identities = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
    (made,) = [
        one for one in cloud.azure("GET", identities, version="2023-01-31")["value"] if "storage-ops" in one["name"]
    ]
    assert told == {team_pods.CLIENT_ID: made["properties"]["clientId"]}


def test_no_credential_is_in_the_state(cloud: Cloud) -> None:
    text = (cloud.home / f"local/test/state/.pulumi/stacks/landbridge/{STACK}.json").read_text()
    assert "PRIVATE KEY" not in text
    assert "eyJ" not in text, "a token"


def test_destroy_takes_rights_and_identity_with_it(cloud: Cloud) -> None:
    cloud.run("destroy", STACK, "--local", "--yes")
    left = cloud.azure_inventory()
    kept = left["Microsoft.ManagedIdentity/userAssignedIdentities"]
    assert {one.rpartition("/")[2] for one in kept} >= {"test-far-gpu-southcentralus-node"}
    assert not [one for one in kept if any(name in one for name in ("autoscaler", "storage", "main-addons-recorder"))]
    assert "autoscaler" not in str(left.get("Microsoft.Authorization/roleDefinitions", ""))
    assert cloud.azure("GET", f"{SETS}/test-far-gpu-1", version="2024-07-01")["name"] == "test-far-gpu-1"
