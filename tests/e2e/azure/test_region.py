"""A region of Azure on the real engine: up, up again, drift, a killed up, grow, go. One story, told in order."""

import re
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.test_lifecycle import changes, drift, halfway, tell
from tests.support import cloud as clouds
from tests.support.cloud import Cloud

pytestmark = pytest.mark.cloud
SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"
FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: 00000000-0000-4000-8000-000000000001}}
regions:
  southcentralus: {{cloud: azure, zones: ["1"]}}
sites:
  lab: {{gateways: [192.0.2.10], asn: 65010}}
storage:
  shares: {{homes: {{path: /homes}}}}
teams:
  ops: {{gid: 2000}}
"""
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-southcentralus/providers"
REGION = "southcentralus"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("azure"), FLEET)
    yield made
    made.stop()


def test_a_killed_up_is_followed_by_one_that_completes(cloud: Cloud) -> None:
    with halfway(cloud, REGION) as running:
        tell(running.pid, signal.SIGKILL)
    running.communicate()
    (done,) = cloud.report("up", "--local", "--yes", REGION)["stacks"]
    assert done["result"] == "done"


def test_up_again_changes_nothing(cloud: Cloud) -> None:
    unchanged = changes(cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes", REGION))
    assert set(unchanged[REGION]) == {"same"}
    assert unchanged[REGION]["same"] > 30


def test_drift_is_seen_and_repaired(cloud: Cloud) -> None:
    network = cloud.azure("GET", f"{GROUP}/Microsoft.Network/virtualNetworks/test-southcentralus-network")
    group = f"{GROUP}/Microsoft.Network/networkSecurityGroups/test-southcentralus-fixed"
    rules = cloud.azure("GET", group)
    opened = [
        {**rule, "properties": {**rule["properties"], "sourceAddressPrefix": "*"}}
        for rule in rules["properties"]["securityRules"]
    ]
    cloud.azure("PUT", group, {**rules, "properties": {**rules["properties"], "securityRules": opened}})
    cloud.azure("PATCH", network["id"], {"tags": {**network["tags"], "landbridge:owner": "somebody"}})
    assert drift(cloud, REGION) == {
        "network.NetworkSecurityGroup group-fixed differs in securityRules",
        "network.VirtualNetwork network differs in tags",
    }
    repaired = changes(cloud.report("up", "--local", "--yes", "--refresh", REGION))[REGION]
    assert repaired["updated"] == 2
    assert drift(cloud, REGION) == set()


def test_a_new_zone_changes_and_replaces_nothing_that_stands(cloud: Cloud) -> None:
    cloud.fleet.write_text(cloud.fleet.read_text().replace('zones: ["1"]', 'zones: ["1", "2"]'))
    cloud.plan()
    grown: Any = changes(cloud.report("up", "--local", "--yes", REGION))[REGION]
    assert set(grown) <= {"created", "updated", "same"}
    network = cloud.azure("GET", f"{GROUP}/Microsoft.Network/virtualNetworks/test-southcentralus-network")
    assert "private-2" in {subnet["name"] for subnet in network["properties"]["subnets"]}


def vault(cloud: Cloud) -> str:
    """The id of the region's."""
    (one,) = cloud.azure("GET", f"{GROUP}/Microsoft.KeyVault/vaults", None, "2023-07-01")["value"]
    return str(one["id"])


def test_destroy_leaves_nothing(cloud: Cloud) -> None:
    cloud.azure("PUT", f"{vault(cloud)}/secrets/kept", {"properties": {"value": "hush"}}, "2023-07-01")
    refused = cloud.run("destroy", "--local", code=None)
    assert refused.returncode != 0, "destroying must ask, and there is nobody to answer"
    cloud.run("destroy", "--local", "--yes", "--ignore-protect")
    left = cloud.azure_inventory()
    # Azure keeps a deleted vault for as long as its purge protection says; watchers of networks are its own.
    kept = {"Microsoft.KeyVault/locations/deletedVaults", "Microsoft.Network/networkWatchers"}
    assert left.keys() <= {*kept, "Microsoft.Resources/resourceGroups"}
    assert "test-southcentralus" not in str(left)


def test_plain_pulumi_says_how_the_vault_comes_back(cloud: Cloud) -> None:
    words = ["pulumi", "up", "--yes", "--skip-preview", "--stack", REGION, "--color", "never"]
    full = [clouds.COMMAND, "local", "exec", "--fleet", str(cloud.fleet), "--", *words]
    done = subprocess.run(full, env=cloud._environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.search(r"`LANDBRIDGE_RECOVER_VAULT=testsouthcent\w{11} pulumi up`", done.stdout), done.stdout


def test_a_region_that_was_destroyed_comes_up_again_with_its_vault(cloud: Cloud) -> None:
    again = cloud.report("up", "--local", "--yes", REGION)
    assert [note for note in again["notes"] if "it comes back, with the secrets in it" in note], again
    assert "Microsoft.KeyVault/locations/deletedVaults" not in cloud.azure_inventory()
    assert cloud.azure("GET", f"{vault(cloud)}/secrets/kept", None, "2023-07-01")["name"] == "kept"
    unchanged = changes(cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes", REGION))
    assert set(unchanged[REGION]) == {"same"}
    assert drift(cloud, REGION) == set()
