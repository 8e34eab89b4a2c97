"""A second cluster beside the first: nothing that stands changes, both answer, and one goes without the other's notice."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.address.blocks import overlaps, parse
from fleet.world import current
from tests.local.machines.inside import eventually
from tests.support.cloud import COMMAND, ROOT, Cloud

pytestmark = pytest.mark.cloud
STANDING = ("us-west-2", "us-east-1", "eu-west-1", "main")
BOOT_SECONDS = 120
SECOND = """\
clusters:
  second:
    region: us-west-2
    kubernetes: 1.36.2
"""
ROUTES = """\
import json
tables = client("ec2", "us-west-2").describe_route_tables()["RouteTables"]
found = {}
for table in tables:
    name = next((tag["Value"] for tag in table["Tags"] if tag["Key"] == "Name"), "")
    for route in table["Routes"]:
        if "TransitGatewayId" in route:
            found.setdefault(route["DestinationCidrBlock"], []).append(name)
print(json.dumps({cidr: sorted(names) for cidr, names in found.items()}))
"""
RUNNING = """\
import json
found = client("ec2", "us-west-2").describe_instances()["Reservations"]
tags = [(i["InstanceId"], {t["Key"]: t["Value"] for t in i["Tags"]}) for r in found for i in r["Instances"] if i["State"]["Name"] == "running"]
print(json.dumps({told["landbridge:machine"]: id_ for id_, told in tags if "landbridge:machine" in told}))
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The example with one cluster more, and its ledger."""
    path = tmp_path / "fleet.yaml"
    text = (ROOT / "fleet.yaml").read_text()
    assert text.count("clusters:\n") == 1
    assert text.count("laptops: true") == 1
    path.write_text(text.replace("clusters:\n", SECOND).replace("laptops: true", "laptops: main"))
    (tmp_path / "fleet.lock.yaml").write_text((ROOT / "fleet.lock.yaml").read_text())
    Cloud(tmp_path / "home", path).plan()
    return path


@pytest.fixture
def grown(cloud: Cloud, fleet: Path) -> Iterator[Cloud]:
    """The same local cloud and state, under the other fleet file."""
    made = Cloud(cloud.home, fleet)
    yield made
    # Whatever went wrong, tests after this one find the cloud as it was.
    made.run("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes", "second", code=None)


def unchanged(cloud: Cloud, *stacks: str, refresh: bool = False) -> None:
    found = cloud.report("preview", "--local", *stacks, "--expect-no-changes", *(["--refresh"] if refresh else []))
    assert {stack["stack"]: stack["result"] for stack in found["stacks"]} == dict.fromkeys(stacks, "unchanged")


def machines(cloud: Cloud) -> dict[str, Any]:
    return dict(json.loads(cloud.python(RUNNING)))


def ready(cloud: Cloud, cluster: str) -> bool:
    words = ["kubectl", "--cluster", cluster, "--local", "--fleet", str(cloud.fleet), "get", "--raw", "/readyz"]
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, env=cloud._environment(), check=False)
    return done.stdout == "ok"


# Two control planes on one machine: minutes where others work on it, too.
@pytest.mark.timeout(1200)
def test_a_second_cluster_comes_and_goes_beside_the_first(cloud: Cloud, grown: Cloud) -> None:
    before, routes = machines(cloud), json.loads(cloud.python(ROUTES))
    unchanged(grown, *STANDING)
    (made,) = grown.report("up", "--local", "--yes", "second")["stacks"]
    assert {what for what, number in made["changes"].items() if number} == {"created"}
    unchanged(grown, "us-west-2", "main", refresh=True)
    plan = current(grown.fleet).plan
    tables = ["example-us-west-2-private", "example-us-west-2-public"]
    assert json.loads(cloud.python(ROUTES)) == {**routes, plan.cluster("second").block: tables}
    now = machines(cloud)
    assert {name: now[name] for name in before} == before, "no machine of the first was replaced"
    own = [name for name in before if name.startswith("main-")]
    assert sorted(set(now) - set(before)) == sorted(name.replace("main-", "second-", 1) for name in own)
    for name in ("main", "second"):
        eventually(lambda name=name: ready(grown, name), BOOT_SECONDS)

    grown.run("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes", "second")
    unchanged(grown, "us-west-2", "main", refresh=True)
    assert machines(cloud) == before
    assert ready(cloud, "main")
    assert json.loads(cloud.python(ROUTES)) == routes


def test_prefixes_of_both_are_disjoint(fleet: Path) -> None:
    old, new = current(ROOT / "fleet.yaml").plan, current(fleet).plan
    assert {name: new.blocks[name] for name in old.blocks} == dict(old.blocks), "what lives has not moved"
    first, second = new.cluster("main"), new.cluster("second")
    aggregates = [(name, parse(cidr)) for name, cidr in new.aggregates().items()]
    parts = [(f"{cluster.block} {part}", parse(part)) for cluster in (first, second) for part in cluster[1:]]
    assert not list(overlaps(aggregates))
    assert not list(overlaps(parts))
    places = [address for zone in new.region("us-west-2").zones.values() for address in zone.addresses.values()]
    assert len(places) == len(set(places))
