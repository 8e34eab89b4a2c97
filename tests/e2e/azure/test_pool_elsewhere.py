"""A cluster at home in Azure with a pool in AWS, on the real engine: EC2 tells its API machines whose a machine is."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.components.pools.joining_client import eventually
from tests.support import cloud as clouds
from tests.support.cloud import Cloud

from ..standing import kubectl
from ..worlds import SUBSCRIPTION, TENANT

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(2400)]
FLEET = f"""\
fleet: test
owner: lab
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "012345678901"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1", "2"]}}
  us-west-2: {{cloud: aws, zones: [a]}}
clusters:
  main: {{region: southcentralus, kubernetes: 1.36.2}}
pools:
  system: {{kind: system, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_D4s_v5, min: 2, max: 4}}
  west: {{kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.8xlarge, min: 1, max: 2}}
teams:
  lab: {{gid: 2001}}
"""
JOIN_SECONDS = 400


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("azure"), FLEET)
    try:
        made.run("up", "--local", "--yes", seconds=1500)
        yield made
    finally:
        made.stop()


def nodes(cloud: Cloud) -> list[dict[str, Any]]:
    return list(json.loads(kubectl(cloud, "get", "nodes", "-l", "landbridge.dev/pool=west", "-o", "json"))["items"])


def ready(cloud: Cloud) -> list[dict[str, Any]]:
    return [
        one
        for one in nodes(cloud)
        if ("Ready", "True") in {(c["type"], c["status"]) for c in one["status"]["conditions"]}
    ]


def test_its_machines_join(cloud: Cloud) -> None:
    (node,) = eventually(lambda: ready(cloud), JOIN_SECONDS)
    assert node["metadata"]["name"].startswith("i-")
    assert node["metadata"]["labels"]["topology.kubernetes.io/region"] == "us-west-2"


def replaced(cloud: Cloud) -> bool:
    """Whether another machine joins when one has gone, and its node goes too."""
    (node,) = ready(cloud)
    name = node["metadata"]["name"]
    cloud.python(f'client("ec2", "us-west-2").terminate_instances(InstanceIds=["{name}"])')

    def another() -> bool:
        return bool(ready(cloud)) and name not in {one["metadata"]["name"] for one in nodes(cloud)}

    return bool(eventually(another, 600))


def test_one_that_aws_has_no_more_loses_its_node_and_another_joins(cloud: Cloud) -> None:
    assert replaced(cloud)


def test_its_role_goes_with_the_add_ons_and_machines_join_again_once_they_are_back(cloud: Cloud) -> None:
    roles = 'print([one["RoleName"] for one in client("iam", "us-west-2").list_roles()["Roles"]])'
    assert "test-main-addons-joining" in cloud.python(roles)
    cloud.run("destroy", "--local", "--yes", "main-addons", seconds=900)
    assert "test-main-addons-joining" not in cloud.python(roles)
    # Nobody waits for their pods, and until these have gone another of the name is refused.
    eventually(lambda: not kubectl(cloud, "-n", "kube-system", "get", "daemonsets", "-o", "name"), 300)
    cloud.run("up", "--local", "--yes", "main-addons", seconds=900)
    assert replaced(cloud)
