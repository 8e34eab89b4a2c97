"""From a bake to machines that start from it, and back: published to three regions, promoted, rolled out, rolled back."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from images import baked
from tests.support.cloud import Cloud

POOL, HOME = "system", "us-west-2"
# Machine → image, of a pool.
RUNNING = """
import json
pages = client("ec2", "us-west-2").get_paginator("describe_instances").paginate(Filters=[
    {"Name": "instance-state-name", "Values": ["running"]}, {"Name": "tag:landbridge:pool", "Values": ["system"]}])
print(json.dumps({i["InstanceId"]: i["ImageId"] for p in pages for r in p["Reservations"] for i in r["Instances"]}))
"""


def running(cloud: Cloud) -> dict[str, str]:
    return dict(json.loads(cloud.python(RUNNING)))


def check(cloud: Cloud, folder: Path, regions: tuple[str, ...]) -> Mapping[str, float]:
    """What each step took, in seconds."""
    image, took = baked.read(folder), dict[str, float]()

    def timed(what: str, *words: str) -> dict[str, Any]:
        began = time.monotonic()
        told = cloud.report(*words, "--local", seconds=900)
        took[what] = time.monotonic() - began
        return told

    def rolled(what: str) -> set[str]:
        told = timed(what, "pool", "roll", POOL, "--yes", "--fraction", "0.5", "--deadline", "0m")
        now = running(cloud)
        assert (told["done"], set(told["came"])) == (True, set(now))
        return set(now.values())

    before = running(cloud)
    assert timed("published to three regions", "image", "publish", str(folder))["places"] == list(regions)
    moved = timed("promoted", "image", "promote", image.name)["moved"]
    stable = {one["place"]: one["id"] for one in moved if one["channel"].endswith("stable")}
    assert stable.keys() == set(regions)
    assert running(cloud) == before, "whoever runs stays"
    assert rolled("a pool of two rolled to it") == {stable[HOME]}
    (state,) = [one for one in cloud.report("pool", "list", "--local")["pools"] if one["pool"] == POOL]
    assert image.name in json.dumps(state), "a pool says which image it runs"
    back = timed("rolled back", "image", "rollback", "--variant", "cpu", "--kubernetes", image.kubernetes)
    assert {one["place"] for one in back["moved"]} == {HOME}
    assert back["kept"] == dict.fromkeys(regions[1:], image.name), "it was the first that they have had"
    assert rolled("a pool of two rolled back") == set(before.values())
    return took
