"""The joining service's role in AWS: its document, and what a token of the real API server opens with it."""

import json
from typing import Any

import pytest

from components.addons import addons
from components.addons.aws import joining_role
from components.addons.joining import POOLS_ADDON
from components.addons.spec import AddOnsSpec, addons_spec
from fleet import joining
from tests.components.addons import bed, cloud
from tests.local.aws.support import refused, with_keys
from tests.support import golden
from tests.support.apiserver import Server

CLUSTER = "south"


@pytest.mark.golden
def test_documents() -> None:
    fleet = bed.both().fleet
    made = {"trust": joining_role.trust(fleet, CLUSTER), "may": joining_role.permissions(fleet, CLUSTER)}
    golden.compare(bed.HERE / "golden/joining-role.yaml", made)


def test_a_cluster_at_home_in_azure_with_machines_in_aws_has_one_and_names_it_in_its_table_of_pools() -> None:
    world = bed.both()
    assert joining_role.wanted(world.fleet, CLUSTER)
    assert not joining_role.wanted(world.fleet, "main"), "at home in AWS the machines' own role has the right"
    for cluster, role in ((CLUSTER, joining_role.role_arn(world.fleet, CLUSTER)), ("main", None)):
        made = addons.manifests(addons_spec(world.fleet, world.plan, cluster))
        (table,) = made[POOLS_ADDON]
        assert json.loads(table["data"]["pools.json"]).get("aws", {}).get("role") == role
    pools = {name: pool for name, pool in world.fleet.pools.items() if pool.region != "us-west-2"}
    assert not joining_role.wanted(world.fleet.model_copy(update={"pools": pools}), CLUSTER)


def test_its_token_lets_it_look_at_instances_of_the_cluster_s_regions_and_do_no_more(
    endpoint: str, root: Any, installed: Server, example: AddOnsSpec
) -> None:
    fleet, iam = example.fleet, root("iam")
    role = joining_role.role_name(fleet, "main")
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(joining_role.trust(fleet, "main")))
    may = json.dumps(joining_role.permissions(fleet, "main"))
    iam.put_role_policy(RoleName=role, PolicyName="machines", PolicyDocument=may)
    token = cloud.token(installed, joining.SPACE, joining.ACCOUNT)
    keys = cloud.assume(endpoint, joining_role.role_arn(fleet, "main"), token)["Credentials"]
    there = with_keys(endpoint, keys, "ec2", "us-west-2")
    # Others' tests have this cloud, too.
    assert "Reservations" in there.describe_instances()
    assert refused(there.terminate_instances, InstanceIds=["i-0123456789abcdef0"]) == "UnauthorizedOperation"
    assert refused(with_keys(endpoint, keys, "ec2", "ap-south-1").describe_instances) == "UnauthorizedOperation"
