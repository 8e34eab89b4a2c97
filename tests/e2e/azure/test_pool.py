"""A cluster at home in AWS with a pool in Azure, on the real engine: its machines join over the links, and their nodes
are as the autoscaler and other parts expect. People's laptops come in there, by servers that join alike."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.addons.azure.autoscaler_role import SETS
from components.boot import people
from services.autoscaler import provider_ids
from tests.components.pools.joining_client import eventually
from tests.support.cloud import COMMAND, Cloud

from ..worlds import SUBSCRIPTION

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
SOUTH = "southcentralus"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-{SOUTH}"
SET = f"{GROUP}/providers/{SETS}/test-south-gpu-1"
MACHINES = f"{GROUP}/providers/Microsoft.Compute/virtualMachines/test-{SOUTH}-laptops"
JOIN_SECONDS = 300


def kubectl(cloud: Cloud, *words: str) -> str:
    command = [COMMAND, "kubectl", "--fleet", str(cloud.fleet), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=cloud._environment(), check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ready(cloud: Cloud, pool: str) -> list[dict[str, Any]]:
    nodes = json.loads(kubectl(cloud, "get", "nodes", "-l", f"landbridge.dev/pool={pool}", "-o", "json"))["items"]
    return [
        one
        for one in nodes
        if any(told["type"] == "Ready" and told["status"] == "True" for told in one["status"]["conditions"])
    ]


@pytest.fixture(scope="module")
def cloud(in_both: Cloud) -> Cloud:
    return in_both


def test_we_are_let_at_a_region_s_vault_until_all_that_lies_in_it_is_gone(cloud: Cloud) -> None:
    """Without that a destroy goes well or not by chance: a vault deletes no secret for whom it lets in no more."""
    held = json.loads((cloud.home / f"local/test/state/.pulumi/stacks/landbridge/{SOUTH}.json").read_text())
    resources = held["checkpoint"]["latest"]["resources"]
    (letting,) = (one["urn"] for one in resources if one["urn"].endswith("::vault-operators"))
    secrets = [one for one in resources if one["type"] == "azure-native:keyvault:Secret"]
    assert secrets
    assert all(letting in one["dependencies"] for one in secrets)


def test_a_machine_of_a_scale_set_joins_a_cluster_of_aws_and_its_node_is_named_as_azure_names_it(cloud: Cloud) -> None:
    (node,) = eventually(lambda: ready(cloud, "south-gpu"), JOIN_SECONDS)
    (machine,) = cloud.azure("GET", f"{SET}/virtualMachines")["value"]
    number = machine["instanceId"]
    assert node["metadata"]["name"] == machine["properties"]["osProfile"]["computerName"].lower()
    expected = provider_ids.azure(SUBSCRIPTION, f"test-{SOUTH}", "test-south-gpu-1", number)
    assert node["spec"]["providerID"] == expected
    labels = node["metadata"]["labels"]
    assert labels["topology.kubernetes.io/region"] == SOUTH
    assert labels["topology.kubernetes.io/zone"] == f"{SOUTH}-1"
    assert labels["node.kubernetes.io/instance-type"] == "Standard_NC24ads_A100_v4"


def names(cloud: Cloud, pool: str) -> list[str]:
    """Of all its nodes."""
    listed = kubectl(cloud, "get", "nodes", "-l", f"landbridge.dev/pool={pool}", "-o", "json")
    return [one["metadata"]["name"] for one in json.loads(listed)["items"]]


def of_server(cloud: Cloud, number: int) -> list[str]:
    """Names of its nodes that are ready."""
    return [one["metadata"]["name"] for one in ready(cloud, f"{SOUTH}-vpn-{number}")]


def test_servers_for_laptops_join_as_virtual_machines_by_themselves(cloud: Cloud) -> None:
    for number in (1, 2):
        (name,) = eventually(lambda number=number: of_server(cloud, number), JOIN_SECONDS)
        told = cloud.azure("GET", f"{MACHINES}-vpn-{number}")["properties"]
        assert name == told["osProfile"]["computerName"].lower()
        node = json.loads(kubectl(cloud, "get", "node", name, "-o", "json"))
        place = GROUP.replace(f"test-{SOUTH}", f"test-{SOUTH}".lower())
        machine = f"test-{SOUTH}-laptops-vpn-{number}"
        assert node["spec"]["providerID"] == f"azure://{place}/providers/Microsoft.Compute/virtualMachines/{machine}"
        assert [one["key"] for one in node["spec"]["taints"]] == ["landbridge.dev/laptops"]


def test_a_person_comes_in_by_them_and_no_more_once_that_is_taken_back(cloud: Cloud, tmp_path: Path) -> None:
    file = tmp_path / "alice.ovpn"
    (one,) = cloud.report("vpn", "add", "alice", "--local", "--output", str(file))["profiles"]
    public = f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/test-{SOUTH}-laptops-vpn"
    addresses = [cloud.azure("GET", f"{public}-{number}")["properties"]["ipAddress"] for number in (1, 2)]
    assert [line.split()[1] for line in file.read_text().splitlines() if line.startswith("remote ")] == addresses

    def lists() -> list[str]:
        return [path.read_text() for path in cloud.home.rglob("var/lib/landbridge/laptops/revoked.pem")]

    eventually(lambda: len(lists()) == 2, 120)
    first = lists()
    assert cloud.report("vpn", "revoke", "alice", "--yes", "--local")["revoked"] == {SOUTH: [one["serial"]]}
    eventually(lambda: len(lists()) == 2 and not {*lists()} & {*first}, 120)


def disks(cloud: Cloud, path: str, of: str) -> list[Path]:
    """A file on the disks of machines of a pool, or of servers: folders of machines in Azure are named by ids."""
    machines = [told.parent for told in cloud.home.rglob("machine.json") if f"-{of}-" in told.read_text()]
    return [file for one in machines if (file := one / "disk" / path).exists()]


def test_people_log_in_to_machines_there_by_certificates_of_the_region_s_authority(
    cloud: Cloud, tmp_path: Path
) -> None:
    """Those of pools, and the servers for laptops. Shares come from the home of the cluster, which is AWS's."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    words = ("--region", SOUTH, "--key", str(tmp_path / "key.pub"), "--output", str(tmp_path / "key-cert.pub"))
    assert len(cloud.report("ssh", "add", "alice", "--local", *words)["certificates"]) == 1
    said = subprocess.run(["ssh-keygen", "-L", "-f", tmp_path / "key-cert.pub"], capture_output=True, text=True)
    (machine,) = eventually(lambda: disks(cloud, people.AUTHORITY.lstrip("/"), "desk"), JOIN_SECONDS)
    servers = eventually(lambda: disks(cloud, people.AUTHORITY.lstrip("/"), "vpn"), JOIN_SECONDS)
    assert {file.read_text() for file in (machine, *servers)} == {machine.read_text()}
    shown = subprocess.run(["ssh-keygen", "-l", "-f", machine], capture_output=True, text=True, check=True).stdout
    assert shown.split()[1] in said.stdout, "the machine trusts who has signed"
    # What the machine shows in turn came out of the vault, and vouched for is it by the pool's stack.
    assert "OPENSSH PRIVATE KEY" in (machine.parent / Path(people.HOST_KEY).name).read_text()
    known = cloud.run("ssh", "hosts", "--local").stdout
    assert f"pools.{SOUTH}.test.example.com" in known
    assert f"vpn-1.{SOUTH}.test.example.com" in known
    mount = machine.parents[1] / "systemd/system/data.mount"
    assert "Type=efs" in mount.read_text()
    cloud.report("ssh", "revoke", "alice", "--yes", "--local")

    def revoked() -> bool:
        file = machine.parents[2] / people.REVOKED.lstrip("/")
        asked = ["ssh-keygen", "-Q", "-f", file, tmp_path / "key-cert.pub"]
        return "REVOKED" in subprocess.run(asked, capture_output=True, text=True, check=False).stdout

    eventually(revoked, 120)


def boot_id(cloud: Cloud, node: str) -> str:
    told = json.loads(kubectl(cloud, "get", "node", node, "-o", "json"))
    return str(told["status"]["nodeInfo"]["bootID"])


def test_what_azure_announces_drains_a_machine_is_approved_done_and_over(cloud: Cloud) -> None:
    (node,) = names(cloud, "south-gpu")
    before = boot_id(cloud, node)
    # By the cloud, which knows of no fleet.
    announced = [COMMAND, "local", "event", node, "Reboot", "--in", "60s"]
    subprocess.run(announced, env=cloud._environment(), check=True, capture_output=True)

    def planned() -> dict[str, Any] | None:
        found = cloud.report("maintenance", "--local")["maintenances"]
        return next((one for one in found if one["source"] == "azure-event"), None)

    plan = eventually(planned, 120)
    assert plan["target"] == {"kind": "node", "name": node}
    eventually(lambda: boot_id(cloud, node) != before, 300)
    shown = ("maintenance", "show", plan["id"], "--local")
    eventually(lambda: cloud.report(*shown)["nodes"][node]["phase"] == "done", 400)
    (back,) = eventually(lambda: ready(cloud, "south-gpu"), 120)
    assert not back["spec"].get("unschedulable")


def test_machines_that_azure_has_no_more_lose_their_nodes_and_what_comes_after_them_is_another(cloud: Cloud) -> None:
    """A server comes with an `up`, a machine of a set since its size asks for one. Azure is believed after minutes, for
    both at once.
    """
    server = f"{SOUTH}-vpn-1"
    ((server_before,), (before,)) = (names(cloud, one) for one in (server, "south-gpu"))
    (machine,) = cloud.azure("GET", f"{SET}/virtualMachines")["value"]
    cloud.azure("DELETE", f"{MACHINES}-vpn-1")
    cloud.azure("POST", f"{SET}/delete", {"instanceIds": [machine["instanceId"]]})
    cloud.azure("PATCH", SET, {"sku": {"capacity": 1}})
    cloud.run("up", "--local", "--yes", "--refresh", f"{SOUTH}-laptops", seconds=1200)
    eventually(lambda: len(found := names(cloud, server)) == 1 and found != [server_before], 600)
    assert before == "test-south-gpu-1-000000"
    eventually(lambda: names(cloud, "south-gpu") == ["test-south-gpu-1-000001"], 600)


def test_a_second_up_changes_nothing(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes", seconds=1200)
