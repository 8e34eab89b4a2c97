"""A small lab's fleet, built, destroyed and built again: what outlives a stack meets the next world."""

import re
from typing import Any

import pytest

from tests.e2e.standing import kubectl
from tests.e2e.test_lifecycle import changes
from tests.support.cloud import Cloud, make

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
# GPUs in a machine room and no pool for other work; its account's number begins with a zero.
ACCOUNT = "012345678901"
FLEET = f"""\
fleet: twice
owner: platform
domain: fleet.example.com
supernet: 10.64.0.0/10
aws: {{account_id: "{ACCOUNT}"}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b, c]}}
sites:
  lab:
    gateways: [192.0.2.10]
    asn: 65010
    hosts:
      host-1: {{gpus: 8, gpu: h100, cpus: 96, memory_gib: 1024}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  site-gpu: {{kind: gpu, cluster: main, site: lab, owner: research, hosts: [host-1], priority: 40}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: platform, instance_type: m7i.large, zones: [a, b], min: 2,
           max: 4}}
teams:
  platform: {{gid: 2001}}
  research: {{gid: 2000}}
"""
# AWS's own key for volumes, what a copy of a snapshot elsewhere is opened with, and the image that is published.
OUTLIVES = [
    ("kms aliases", "alias/aws/ebs"),
    ("kms keys", "…"),
    ("secretsmanager secrets", "twice/main/recovery-…"),
    ("ssm parameters", "/twice/images/cpu/1.36.2/stable"),
]
DESTROY = ("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes")


def ready(cloud: Cloud) -> dict[str, str]:
    """Pool by node, of those that are Ready."""
    told = kubectl(
        cloud, "get", "nodes", "-o",
        'jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.landbridge\\.dev/pool} '
        '{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}',
    )  # fmt: skip
    rows = [line.split() for line in told.splitlines()]
    return {name: pool for name, pool, state in rows if state == "True"}


def up(cloud: Cloud) -> tuple[dict[str, Any], list[str]]:
    report = cloud.report("up", "--local", "--yes", seconds=1200)
    return changes(report), sorted(ready(cloud).values())


def left(now: dict[str, Any], before: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is more than before, by kind, without what chance has made of a name."""
    return [
        (kind, re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4,12}){4}|(?<=recovery-)[0-9a-f]+", "…", one))
        for account, regions in now.items()
        for region, kinds in regions.items()
        for kind, held in kinds.items()
        for one in held
        if one not in before.get(account, {}).get(region, {}).get(kind, ())
    ]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = make(tmp_path_factory.mktemp("twice"), FLEET)
    yield made
    made.stop()


def test_it_is_destroyed_with_what_lies_in_it_and_comes_up_again_with_its_host(cloud: Cloud) -> None:
    cloud.python("client('ec2', 'us-west-2').describe_vpcs()")  # its default network appears with the first call
    before = cloud.inventory()
    first, nodes = up(cloud)
    assert nodes == ["site-gpu", "system", "system"]
    stands = cloud.inventory()
    assert stands.pop(ACCOUNT) != before[ACCOUNT]
    assert stands == {account: held for account, held in before.items() if account != ACCOUNT}
    cloud.run(*DESTROY, seconds=1200)
    assert left(cloud.inventory(), before) == OUTLIVES
    again, nodes = up(cloud)
    assert nodes == ["site-gpu", "system", "system"]
    assert again == first
    cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes")
