"""The stack of a pool in Azure on the engine: what it makes, that sizes are not its own, that machines boot, that nothing
stays.

The regions are real. The cluster, at home in AWS, is a stack that publishes what a pool reads: test_pool.py does so, too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stacks.outputs import PoolOutputs
from tests.local.machines.inside import eventually
from tests.stacks.test_pool import BOOT_SECONDS, Pools, _booted
from tests.support import cloud as clouds
from tests.support import golden
from tests.support.azure import images

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]
HERE = Path(__file__).parent
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
POOLS = ("south-gpu", "south-spot")
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-{REGION}"
SETS = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets"


def standing(pools: Pools) -> dict[str, Any]:
    """What the subscription holds in the region's resource group."""
    return {kind: sorted(one for one in ids if "-images/" not in one) for kind, ids in _inventory(pools).items()}


def _inventory(pools: Pools) -> dict[str, list[str]]:
    return {kind: [str(one) for one in ids] for kind, ids in pools.cloud.azure_inventory().items()}


def scale_set(pools: Pools, name: str) -> dict[str, Any]:
    return dict(pools.cloud.azure("GET", f"{SETS}/{name}"))


def resize(pools: Pools, name: str, machines: int) -> None:
    """As the autoscaler does."""
    pools.cloud.azure("PATCH", f"{SETS}/{name}", {"sku": {"capacity": machines}})


def instances(pools: Pools, name: str) -> list[dict[str, Any]]:
    return list(pools.cloud.azure("GET", f"{SETS}/{name}/virtualMachines")["value"])


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    cloud = clouds.make(tmp_path_factory.mktemp("pools"), FLEET)
    try:
        cloud.run("preview", "--local", REGION)  # makes the region's stack, and nothing in it
        made = Pools(tmp_path_factory.mktemp("program") / "p", cloud)
        made.run("stack", "init", "main")
        for pool in POOLS:
            made.run("stack", "init", pool)
        made.without_image = made.preview("south-spot", code=None)
        for kind in ("cpu", "gpu"):
            images.publish(cloud, "test", SUBSCRIPTION, [REGION], "1.36.2", kind)  # type: ignore[arg-type]
        made.previewed = {pool: made.preview(pool) for pool in POOLS}
        cloud.run("up", "--local", "--yes", REGION)
        made.publish()
        made.before = standing(made)
        for pool in POOLS:
            made.up(pool)
        yield made
    finally:
        cloud.stop()


@pytest.mark.golden
@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_s_resources_are_those_of_the_golden_file(pools: Pools, pool: str) -> None:
    found = golden.resources(pools.state(pool), {REGION: pools.state(REGION)})
    golden.compare(HERE / f"golden/pool.{pool}.yaml", found)


@pytest.mark.parametrize("pool", POOLS)
def test_a_second_up_changes_nothing(pools: Pools, pool: str) -> None:
    pools.up(pool, "--refresh", "--expect-no-changes")


def test_policies_can_judge_a_pool_before_anything_stands_and_find_no_fault(pools: Pools) -> None:
    for said in pools.previewed.values():
        assert "landbridge@" in said, "the pack ran"
        assert "mandatory" not in said
        assert "to create" in said


def test_a_pool_without_an_image_is_refused_at_preview(pools: Pools) -> None:
    said = " ".join(pools.without_image.split())
    assert f"pool south-spot in {REGION}: there is no image" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("pool", POOLS)
def test_it_publishes_the_contract_and_no_secret(pools: Pools, pool: str) -> None:
    told = pools.outputs(pool)
    assert told.keys() == PoolOutputs.__annotations__.keys()
    assert "[secret]" not in json.dumps(told)
    assert "PRIVATE KEY" not in json.dumps(pools.state(pool))
    for name in told["groups"].values():
        assert scale_set(pools, name)["tags"]["landbridge:cluster"] == "main"


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
    eventually(lambda: _booted(pools.local("logs", name.lower())), BOOT_SECONDS)


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
    refused = pools.run("destroy", "--yes", "--skip-preview", "-s", "south-spot", code=None)
    assert "is protected" in " ".join(refused.split()) or "cannot be deleted" in refused
    assert len(instances(pools, "test-south-spot-all")) == 2
    for pool in POOLS:
        pools.run("state", "unprotect", "--all", "--yes", "-s", pool)
        pools.run("destroy", "--yes", "--skip-preview", "-s", pool)
    eventually(lambda: standing(pools) == pools.before, BOOT_SECONDS)
