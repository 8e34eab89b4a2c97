"""Images in the gallery of a fleet in the local cloud, by the real command line and Azure's names."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import store_bed
from tests.support.cloud import Cloud, make

FLEET = """\
fleet: both
owner: ops
domain: both.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
azure: {subscription_id: 00000000-0000-4000-8000-00000000000a, tenant_id: 00000000-0000-4000-8000-000000000001}
regions:
  us-west-2: {cloud: aws, zones: [a]}
  southcentralus: {cloud: azure, zones: ["1"]}
  westeurope: {cloud: azure, zones: ["1"]}
teams:
  ops: {gid: 2000}
"""


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    cloud = make(tmp_path, FLEET)
    yield cloud
    cloud.stop()


def test_a_bake_comes_to_both_clouds_and_goes_through_channels(cloud: Cloud, tmp_path: Path) -> None:
    folder, image = store_bed.bake(tmp_path / "images", "local")
    cloud.inside("true")  # it starts by itself
    told = cloud.report("image", "publish", str(folder), "--local")
    assert told["places"] == ["us-west-2", "southcentralus", "westeurope"]
    cloud.run("image", "promote", image.name, "--local")
    listed = cloud.report("image", "list", "--published", "--local")
    channels = {(one["place"], tuple(one["channels"])) for one in listed["images"] if one["name"] == image.name}
    assert channels == {(region, ("candidate", "stable")) for region in told["places"]}
    number = next(one["id"] for one in listed["images"] if one["place"] == "westeurope").rpartition("/")[2]
    group = "/subscriptions/00000000-0000-4000-8000-00000000000a/resourceGroups/both-images"
    definition = cloud.azure("GET", f"{group}/providers/Microsoft.Compute/galleries/both/images/cpu-1.36.2")
    assert definition["tags"]["landbridge:stable:westeurope"].split()[0] == number
    assert "Microsoft.Compute/disks" not in json.dumps(cloud.azure_inventory())
