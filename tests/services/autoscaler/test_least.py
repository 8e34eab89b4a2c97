"""Pools that have fewer machines than they should have at least, as after a machine of Azure's was deleted."""

from pathlib import Path

import pytest

from components.addons import autoscaler_flags
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import autoscaled

pytestmark = pytest.mark.timeout(300)


def test_what_a_pool_lacks_is_bought_though_nobody_waits_for_it(tmp_path: Path) -> None:
    given = autoscaler_flags.FLAGS["enforce-node-group-min-size"].value
    with autoscaled(tmp_path, site=0, enforce_node_group_min_size=given) as one:
        least = {group["name"]: group["least"] for group in one.told["groups"] if group["least"]}
        assert least
        eventually(lambda: {told["group"]: told["machines"] for told in one.said("grow")} == least)
        shape = one.world.fleet.pools["system"].instance_type
        eventually(lambda: len(one.cloud.launched("us-west-2", str(shape))) == sum(least.values()))
