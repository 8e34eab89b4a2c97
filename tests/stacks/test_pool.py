"""A pool's stack on the engine: what it makes, that sizes are not its own, that its machines boot, that nothing stays.

The region is real. The cluster is a stack that publishes what a pool reads, for machines of a control plane take
minutes and no pool's stack asks them anything.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stacks.outputs import ClusterOutputs, PoolOutputs
from tests.local.providers.test_engine import Project
from tests.support import cloud as clouds
from tests.support import golden
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
REGION = "us-west-2"
POOLS = ("west-gpu", "cpu", "system", "shell")
FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b], laptops: true}
  us-east-1: {cloud: aws, zones: [a]}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
pools:
  west-gpu: {kind: gpu, cluster: main, region: us-west-2, owner: lab, instance_type: p5.48xlarge, gpus: 8, max: 4}
  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.8xlarge, max: 50,
        spot: true, max_price_per_hour: 0.8}
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}
  shell: {kind: ssh, cluster: main, region: us-west-2, owner: lab, instance_type: g5.xlarge, gpus: 1, max: 2}
teams:
  ops: {gid: 2000}
  lab: {gid: 2001}
people:
  ann: {uid: 3001, team: lab, keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f]}
"""
STACKS = """\
import runpy, sys
sys.path.insert(0, {root!r})
import stacks.catalogue as listed
cloud = listed.catalogue
listed.catalogue = lambda fleet: [*cloud(fleet), *listed.pools(fleet)]
runpy.run_path({root!r} + "/stacks", run_name="__main__")
"""
AUTHORITY = "-----BEGIN CERTIFICATE-----\nof the cluster\n-----END CERTIFICATE-----\n"


class Pools:
    """The region with its cluster's outputs, and the program of every stack."""

    def __init__(self, folder: Path, cloud: Cloud) -> None:
        self.cloud, self.backend = cloud, cloud.home / "local/test/state"
        self.project = Project(folder, cloud, name="landbridge", state=self.backend, phrase="local")
        told = {**dict.fromkeys(ClusterOutputs.__annotations__, "-"), "authority": AUTHORITY}
        self.project.program("".join(f"pulumi.export({name!r}, {value!r})\n" for name, value in told.items()))
        self.run("stack", "init", "main")
        self.run("up", "--yes", "--skip-preview", "-s", "main")
        (folder / "__main__.py").write_text(STACKS.format(root=str(ROOT)))

    def run(self, *arguments: str, code: int | None = 0) -> str:
        return self.project.pulumi(*arguments, code=code, before=[f"LANDBRIDGE_FLEET={self.cloud.fleet}"])

    def up(self, pool: str, *arguments: str, code: int | None = 0) -> str:
        return self.run("up", "--yes", "--skip-preview", "-s", pool, *arguments, code=code)

    def state(self, stack: str) -> dict[str, Any]:
        return dict(json.loads((self.backend / f".pulumi/stacks/landbridge/{stack}.json").read_text()))

    def outputs(self, stack: str) -> dict[str, Any]:
        return dict(json.loads(self.run("stack", "output", "--json", "-s", stack)))

    def asks(self, expression: str) -> Any:
        """Of the local AWS, by boto3: `scaling`, `ec2` and `s3` are its clients."""
        clients = "".join(
            f"{name} = client({service!r}, {REGION!r})\n"
            for name, service in (("scaling", "autoscaling"), ("ec2", "ec2"), ("s3", "s3"), ("ssm", "ssm"))
        )
        return json.loads(self.cloud.python(f"import json\n{clients}print(json.dumps({expression}, default=str))"))

    def group(self, name: str) -> dict[str, Any]:
        (found,) = self.asks(f"scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[{name!r}])")[
            "AutoScalingGroups"
        ]
        return dict(found)


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    cloud = clouds.make(tmp_path_factory.mktemp("pools"), FLEET)
    try:
        cloud.run("up", "--local", "--yes", REGION)
        made = Pools(tmp_path_factory.mktemp("program") / "p", cloud)
        for kind, image in (("cpu", "ami-0c00000000000c001"), ("gpu", "ami-0c00000000000c002")):
            name = f"/test/images/{kind}/1.36.2/stable"
            made.asks(f"ssm.put_parameter(Name={name!r}, Value={image!r}, Type='String')")
        for pool in POOLS:
            made.run("stack", "init", pool)
            made.up(pool)
        yield made
    finally:
        cloud.stop()


@pytest.mark.golden
@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_s_resources_are_those_of_the_golden_file(pools: Pools, pool: str) -> None:
    golden.compare(
        HERE / f"golden/pool.{pool}.yaml", golden.resources(pools.state(pool), {REGION: pools.state(REGION)})
    )


@pytest.mark.parametrize("pool", POOLS)
def test_a_second_up_changes_nothing(pools: Pools, pool: str) -> None:
    pools.up(pool, "--refresh", "--expect-no-changes")


@pytest.mark.parametrize("pool", POOLS)
def test_it_publishes_the_contract_and_no_secret(pools: Pools, pool: str) -> None:
    told = pools.outputs(pool)
    assert told.keys() == PoolOutputs.__annotations__.keys()
    assert "[secret]" not in json.dumps(told)
    assert "PRIVATE KEY" not in json.dumps(pools.state(pool))
    for name in told["groups"].values():
        assert pools.group(name)["AutoScalingGroupName"] == name
