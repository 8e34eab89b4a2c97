"""A fleet whose file changes: hosts, pools, sites, regions and clusters that move, take other names and come back.

What the file has forgotten is named by `up` and destroyed by its name; then nothing of it is left.
"""

import re
from collections import Counter

import pytest

from tests.support.cloud import Cloud

from .matrix import SECONDS, Stands, await_nodes, destroy, is_as, orphans, stands, up, written
from .worlds import HYBRID

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(1500)]
SERVERS = {"us-west-2-vpn-1": 1, "us-west-2-vpn-2": 1}
READY = {"site-gpu": 2, "system": 2, **SERVERS}
SITE = HYBRID[HYBRID.index("sites:") : HYBRID.index("clusters:")]
SITE_POOL = "  site-gpu: {kind: gpu, cluster: main, site: lab, owner: lab, hosts: [host-1, host-2]}\n"
EAST = "  us-east-1: {cloud: aws, zones: [a]}\n"


@pytest.fixture(scope="module")
def before(at_rest: Cloud) -> Stands:
    found = stands(at_rest)
    assert found.nodes == ready(READY)
    return found


def back(cloud: Cloud, before: Stands, *forgotten: str) -> None:
    """The file is as it was: so is all else, once what it has forgotten is gone."""
    assert sorted(orphans(up(cloud, full=False))) == sorted(forgotten)
    if forgotten:
        destroy(cloud, *forgotten)
    assert up(cloud) == []
    is_as(cloud, before)


def follow(cloud: Cloud) -> None:
    """What an `up` refuses names two commands, and both are typed."""
    cloud.plan()
    said = cloud.run("up", "--local", "--yes", "--allow-destroy", "9", code=1, seconds=SECONDS)
    found = re.search(r"go first:\s`landbridge ([^`]+)`,\sthen\s`landbridge ([^`]+)`", said.stdout + said.stderr)
    assert found, said.stdout + said.stderr
    first, then = found.groups()
    cloud.run(*first.split(), "--yes", seconds=SECONDS)
    cloud.run(*then.split(), "--yes", "--allow-destroy", "9", seconds=SECONDS)


def ready(by_pool: dict[str, int]) -> Counter[tuple[str, str]]:
    return Counter({(pool, "True"): many for pool, many in by_pool.items()})


def has(cloud: Cloud, expected: dict[str, int], *words: str) -> None:
    await_nodes(cloud, ready(expected), *words)


def test_a_host_moves_to_another_pool(at_rest: Cloud, before: Stands) -> None:
    more = (
        SITE_POOL.replace(", host-2", "")
        + "  other: {kind: gpu, cluster: main, site: lab, owner: ops, hosts: [host-2]}\n"
    )
    with written(at_rest, (SITE_POOL, more)):
        up(at_rest)
        has(at_rest, {"site-gpu": 1, "other": 1, "system": 2, **SERVERS})
    back(at_rest, before, "other")


def test_a_host_moves_to_another_cluster(at_rest: Cloud, before: Stands) -> None:
    more = (
        SITE_POOL.replace(", host-2", "")
        + "  other: {kind: gpu, cluster: two, site: lab, owner: ops, hosts: [host-2]}\n"
    )
    second = "  main: {region: us-west-2, kubernetes: 1.36.2}\n"
    pool = "  system2: {kind: system, cluster: two, region: us-west-2, owner: ops, instance_type: m7i.large, zones: [a, b], min: 2, max: 4}\n"
    with written(
        at_rest,
        (SITE_POOL, more + pool),
        (second, second + second.replace("main", "two")),
        ("laptops: true", "laptops: main"),
    ):
        up(at_rest)
        has(at_rest, {"site-gpu": 1, "system": 2, **SERVERS}, "--cluster", "main")
        has(at_rest, {"other": 1, "system2": 2}, "--cluster", "two")
    back(at_rest, before, "other", "system2", "two", "two-addons")


def test_a_pool_s_kind_changes(at_rest: Cloud, before: Stands) -> None:
    old = "{kind: gpu, cluster: main, region: us-west-2, owner: lab, instance_type: p5.48xlarge, gpus: 8, max: 4}"
    new = "{kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.8xlarge, max: 4}"
    with written(at_rest, (old, new)):
        follow(at_rest)
        up(at_rest)
        has(at_rest, {"site-gpu": 2, "system": 2, **SERVERS})
    follow(at_rest)
    back(at_rest, before)


def test_a_site_goes_and_comes_back(at_rest: Cloud, before: Stands) -> None:
    with written(at_rest, (SITE, ""), (SITE_POOL, "")):
        assert orphans(up(at_rest)) == ["site-gpu"]
        destroy(at_rest, "site-gpu")
        assert up(at_rest) == []
        has(at_rest, {"system": 2, **SERVERS})
        left = at_rest.inventory()["123456789012"]
        assert not [kind for region in left.values() for kind in region if "vpn" in kind or "customer" in kind]
    back(at_rest, before)


def there(cloud: Cloud, region: str) -> dict[str, int]:
    """How many of each kind; a region has a network of its own from its first call on, and images stay published."""
    cloud.python(f"client('ec2', '{region}').describe_vpcs()")
    held = cloud.inventory()["123456789012"][region]
    # Of subnets it has one a zone.
    return {kind: len(names) for kind, names in held.items() if kind not in ("ec2 subnets", "ssm parameters")}


def test_a_region_is_replaced_by_another(at_rest: Cloud, before: Stands) -> None:
    with written(at_rest, (EAST, EAST.replace("us-east-1", "eu-west-1")), ("region: us-east-1", "region: eu-west-1")):
        at_rest.plan()
        refused = at_rest.run("destroy", "--local", "--yes", "us-east-1", code=1)
        assert "links, east-gpu, main-addons still hold what leads to us-east-1" in refused.stderr
        follow(at_rest)
        assert orphans(up(at_rest)) == ["us-east-1"]
        destroy(at_rest, "us-east-1")
        assert up(at_rest) == []
        assert there(at_rest, "us-east-1") == there(at_rest, "ap-south-1")
    follow(at_rest)
    back(at_rest, before, "eu-west-1")


def test_a_cluster_is_renamed(at_rest: Cloud, before: Stands) -> None:
    with written(at_rest, ("  main: {region", "  prime: {region"), ("cluster: main", "cluster: prime")):
        follow(at_rest)
        left = orphans(up(at_rest))
        assert left == ["main", "main-addons"]
        destroy(at_rest, *left)
        assert up(at_rest) == []
        has(at_rest, READY)
    follow(at_rest)
    back(at_rest, before, "prime", "prime-addons")
