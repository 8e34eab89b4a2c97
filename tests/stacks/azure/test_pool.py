"""A pool's stack in Azure: what only its scale sets have, sizes that are not its own, machines that boot."""

from collections.abc import Iterator
from typing import Any

import pytest

from fleet.image_names import ImageVariant
from tests.local.machines.inside import eventually
from tests.stacks.pool_bed import BOOT_SECONDS, Pools, brought_up
from tests.stacks.pool_cases import *  # noqa: F403
from tests.stacks.pool_cases import destroying_asks_and_leaves_nothing, for_each_pool
from tests.support.azure import images

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]
REGION, SUBSCRIPTION = "southcentralus", "00000000-0000-4000-8000-00000000000a"
FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: 00000000-0000-4000-8000-000000000001}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b]}}
  {REGION}: {{cloud: azure, zones: ["1", "2"]}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  south-gpu: {{kind: gpu, cluster: main, region: {REGION}, owner: lab, instance_type: Standard_ND96isr_H100_v5, gpus: 8, max: 4}}
  south-spot: {{kind: cpu, cluster: main, region: {REGION}, owner: lab, instance_type: Standard_D8s_v5, min: 1, max: 5,
               spot: true, max_price_per_hour: 0.8}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}}
teams:
  ops: {{gid: 2000}}
  lab: {{gid: 2001}}
"""
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-{REGION}"
SETS = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets"


def scale_set(pools: Pools, name: str) -> dict[str, Any]:
    return dict(pools.cloud.azure("GET", f"{SETS}/{name}"))


def resize(pools: Pools, name: str, machines: int) -> None:
    """As the autoscaler does."""
    pools.cloud.azure("PATCH", f"{SETS}/{name}", {"sku": {"capacity": machines}})


def instances(pools: Pools, name: str) -> list[dict[str, Any]]:
    return list(pools.cloud.azure("GET", f"{SETS}/{name}/virtualMachines")["value"])


class AzurePools(Pools):
    region, imageless = REGION, "south-spot"
    pools = judged = ("south-gpu", "south-spot")

    def publish_images(self) -> None:
        variants: tuple[ImageVariant, ...] = ("cpu", "gpu")
        for variant in variants:
            images.publish(self.cloud, "test", SUBSCRIPTION, [REGION], "1.36.2", variant)

    def standing(self) -> dict[str, Any]:
        """What the subscription holds in the region's resource group."""
        found = self.cloud.azure_inventory().items()
        return {kind: sorted(one for one in map(str, ids) if "-images/" not in one) for kind, ids in found}

    def cluster_of(self, group: str) -> str:
        return str(scale_set(self, group)["tags"]["landbridge:cluster"])


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    yield from brought_up(AzurePools, tmp_path_factory, FLEET)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for_each_pool(metafunc, AzurePools.pools, golden=AzurePools.pools)


def test_a_gpu_pool_stands_in_one_placement_group_a_zone_and_begins_empty(pools: Pools) -> None:
    for zone in ("1", "2"):
        made = scale_set(pools, f"test-south-gpu-{zone}")
        assert (made["zones"], made["sku"]["capacity"]) == ([zone], 0)
        assert made["properties"]["singlePlacementGroup"] is True
    made = scale_set(pools, "test-south-spot-all")
    assert (made["zones"], made["properties"]["singlePlacementGroup"]) == (["1", "2"], False)
    assert made["properties"]["virtualMachineProfile"]["evictionPolicy"] == "Delete"


def test_a_machine_boots_its_bundle_by_its_identity(pools: Pools) -> None:
    (machine,) = instances(pools, "test-south-spot-all")
    name = machine["properties"]["osProfile"]["computerName"]
    assert name == "test-south-spot-all-000000"
    eventually(lambda: pools.booted(name.lower()), BOOT_SECONDS)


def test_a_size_set_by_hand_stays_whatever_else_an_up_changes(pools: Pools) -> None:
    """Azure takes a scale set whole: an `up` that has not read the size is refused, and one that has keeps it."""
    resize(pools, "test-south-spot-all", 2)
    pools.up("south-spot", "--expect-no-changes")
    before = {one["properties"]["vmId"] for one in instances(pools, "test-south-spot-all")}
    text = pools.cloud.fleet.read_text()
    pools.cloud.fleet.write_text(text.replace("max_price_per_hour: 0.8", "max_price_per_hour: 0.9"))
    for verb in (("preview",), ("up", "--yes", "--skip-preview")):
        refused = " ".join(pools.run(*verb, "-s", "south-spot", code=None).split())
        assert "it has 2 machines, and this run would make it 1. Nothing was changed of it. Run" in refused
        assert "Traceback" not in refused
    assert scale_set(pools, "test-south-spot-all")["sku"]["capacity"] == 2
    said = pools.up("south-spot", "--refresh")
    pools.cloud.fleet.write_text(text)
    assert "~ 1 updated" in said
    made = scale_set(pools, "test-south-spot-all")
    assert made["sku"]["capacity"] == 2
    assert made["properties"]["virtualMachineProfile"]["billingProfile"]["maxPrice"] == 0.9
    assert {one["properties"]["vmId"] for one in instances(pools, "test-south-spot-all")} == before
    pools.up("south-spot", "--refresh")


def test_what_somebody_changed_by_hand_is_seen_and_mended(pools: Pools) -> None:
    group = f"{GROUP}/providers/Microsoft.Network/networkSecurityGroups/test-south-gpu-node"
    there = pools.cloud.azure("GET", group)
    rules = [one for one in there["properties"]["securityRules"] if one["name"] != "in-rest"]
    body = {"location": REGION, "tags": there["tags"], "properties": {"securityRules": rules}}
    pools.cloud.azure("PUT", group, body)
    assert "~ 1 updated" in pools.up("south-gpu", "--refresh")
    names = [one["name"] for one in pools.cloud.azure("GET", group)["properties"]["securityRules"]]
    assert "in-rest" in names


def test_destroying_asks_and_leaves_nothing(pools: Pools) -> None:
    """The last of all."""
    assert len(instances(pools, "test-south-spot-all")) == 2
    destroying_asks_and_leaves_nothing(pools, "south-spot")
