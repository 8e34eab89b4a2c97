"""The autoscaler's role: its document, and the whole way from a pod's token to a group's size, and no further.

The token is the real API server's; STS and Auto Scaling are the local AWS's, which verifies and judges them.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from components.addons.aws import autoscaler_role, team_roles
from components.addons.spec import AddOnsSpec
from components.pools.names import Names
from fleet import autoscaler, team_storage
from fleet.model import Fleet, Pool
from tests.components.addons import bed, cloud
from tests.local.aws.support import image, refused, with_keys
from tests.support import golden
from tests.support.apiserver import Server

WEST, EU = "us-west-2", "eu-west-1"
OURS = {"landbridge:fleet": "example", "landbridge:cluster": "main"}
# Group → its region and its tags. All but the first two are somebody else's.
GROUPS = {
    "example-west-gpu-a": (WEST, OURS),
    "example-cpu-all": (WEST, OURS),
    "example-eu-gpu-a": (WEST, OURS),  # where the pool is not
    "example-west-gpu-b": (WEST, {**OURS, "landbridge:cluster": "next"}),
    "example-west-gpu-c": (WEST, {"landbridge:cluster": "main"}),
    "example-main-etcd-1": (WEST, OURS),
    "example-west-gpu-spare-a": (WEST, OURS),
}
OWN = list(GROUPS)[:2]
Client = Callable[..., Any]


@pytest.mark.golden
def test_documents(example: AddOnsSpec) -> None:
    made = {
        "trust": autoscaler_role.trust(example.fleet, "main"),
        "may": autoscaler_role.permissions(example.fleet, "main"),
    }
    golden.compare(bed.HERE / "golden/autoscaler-role.yaml", made)


def test_patterns_are_of_all_groups_of_the_cluster_and_of_no_other(example: AddOnsSpec) -> None:
    names, arns = Names(example.fleet), autoscaler.group_arns(example.fleet, "main")
    ends = [arn.rpartition("/")[2] for arn in arns]
    # That of the pool in Azure is judged there.
    for pool in (one for one in example.pools if not one.site and one.name != "south-gpu"):
        for group in names.groups(pool.name):
            fitting = [end for end in ends if end in (group, f"{group[:-1]}?")]
            assert len(fitting) == 1, group
    assert len(arns) == 5
    assert len(autoscaler.pools(example.fleet, "main")) == 6
    assert autoscaler.group_arns(example.fleet, "other") == []


def test_the_largest_role_is_one_that_iam_takes(example: AddOnsSpec) -> None:
    """10,240 characters without white space ("IAM and AWS STS quotas"): forty pools with the longest of names."""
    pool: Pool = example.fleet.pools["west-gpu"].model_copy(update={"region": "ap-southeast-2"})
    region = example.fleet.regions[WEST]
    fleet: Fleet = example.fleet.model_copy(
        update={
            "fleet": "f" * 32,
            "regions": {"ap-southeast-2": region},
            "pools": {f"{'p' * 30}{n:02}": pool for n in range(40)},
        }
    )
    assert len(json.dumps(autoscaler_role.permissions(fleet, "main"), separators=(",", ":"))) <= 10240


@pytest.fixture(scope="module")
def groups(root: Client) -> Iterator[Client]:
    """One machine in each."""
    ec2, scaling = root("ec2", WEST), root("autoscaling", WEST)
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    data = {"ImageId": image(ec2), "InstanceType": "p5.48xlarge"}
    template = ec2.create_launch_template(LaunchTemplateName="t", LaunchTemplateData=data)["LaunchTemplate"]
    for name, (_, tags) in GROUPS.items():
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            MinSize=0,
            MaxSize=4,
            DesiredCapacity=1,
            VPCZoneIdentifier=subnet,
            LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"]},
            Tags=[{"Key": key, "Value": value, "PropagateAtLaunch": False} for key, value in tags.items()],
        )
    yield root
    for name in GROUPS:
        scaling.delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])


@pytest.fixture(scope="module")
def as_pod(endpoint: str, groups: Client, installed: Server, example: AddOnsSpec) -> Client:
    """Clients of the autoscaler's cloud side."""
    role = autoscaler_role.role_name(example.fleet, "main")
    trust = json.dumps(autoscaler_role.trust(example.fleet, "main"))
    groups("iam").create_role(RoleName=role, AssumeRolePolicyDocument=trust)
    may = json.dumps(autoscaler_role.permissions(example.fleet, "main"))
    groups("iam").put_role_policy(RoleName=role, PolicyName="groups", PolicyDocument=may)
    token = cloud.token(installed, autoscaler.SPACE, autoscaler.ACCOUNT)
    keys = cloud.assume(endpoint, autoscaler_role.role_arn(example.fleet, "main"), token)["Credentials"]

    def make(service: str, region: str = WEST) -> Any:
        return with_keys(endpoint, keys, service, region)

    return make


def machine(groups: Client, name: str) -> str:
    found = groups("autoscaling", WEST).describe_auto_scaling_groups(AutoScalingGroupNames=[name])
    return str(found["AutoScalingGroups"][0]["Instances"][0]["InstanceId"])


def test_it_looks_at_groups_and_activities_of_its_regions(as_pod: Client) -> None:
    found = as_pod("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert {group["AutoScalingGroupName"] for group in found} >= set(GROUPS)
    assert as_pod("autoscaling").describe_scaling_activities(AutoScalingGroupName=OWN[0])["Activities"]
    assert as_pod("autoscaling", EU).describe_auto_scaling_groups()["AutoScalingGroups"] == []
    assert refused(as_pod("autoscaling", "ap-south-1").describe_auto_scaling_groups) == "AccessDenied"


@pytest.mark.parametrize("name", OWN)
def test_it_sizes_groups_of_its_own(name: str, as_pod: Client, groups: Client) -> None:
    scaling = as_pod("autoscaling")
    scaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=2)
    gone = machine(groups, name)
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=gone, ShouldDecrementDesiredCapacity=True)


@pytest.mark.parametrize("name", [name for name in GROUPS if name not in OWN])
def test_it_leaves_all_other_groups_alone(name: str, as_pod: Client, groups: Client) -> None:
    scaling = as_pod("autoscaling")
    assert refused(scaling.set_desired_capacity, AutoScalingGroupName=name, DesiredCapacity=0) == "AccessDenied"
    theirs = {"InstanceId": machine(groups, name), "ShouldDecrementDesiredCapacity": True}
    assert refused(scaling.terminate_instance_in_auto_scaling_group, **theirs) == "AccessDenied"
    ended = {"LifecycleHookName": "put-away", "LifecycleActionResult": "CONTINUE", "InstanceId": theirs["InstanceId"]}
    assert refused(scaling.complete_lifecycle_action, AutoScalingGroupName=name, **ended) == "AccessDenied"


def test_it_changes_nothing_else_of_its_own_groups(as_pod: Client, groups: Client) -> None:
    scaling, name = as_pod("autoscaling"), OWN[0]
    assert refused(scaling.update_auto_scaling_group, AutoScalingGroupName=name, MaxSize=100) == "AccessDenied"
    tag = {"ResourceId": name, "ResourceType": "auto-scaling-group", "Key": "k", "PropagateAtLaunch": False}
    assert refused(scaling.create_or_update_tags, Tags=[tag]) == "AccessDenied"
    assert refused(scaling.delete_auto_scaling_group, AutoScalingGroupName=name) == "AccessDenied"
    theirs = [machine(groups, name)]
    assert refused(as_pod("ec2").terminate_instances, InstanceIds=theirs) == "UnauthorizedOperation"
    assert refused(as_pod("s3").list_buckets) == "AccessDenied"


def test_other_accounts_get_no_such_role(
    as_pod: Client,
    endpoint: str,
    installed: Server,
    example: AddOnsSpec,
) -> None:
    role = autoscaler_role.role_arn(example.fleet, "main")
    storage = cloud.token(installed, team_storage.namespace("research"), team_storage.ACCOUNT)
    for strange in (cloud.token(installed, "kube-system", "default"), storage):
        assert refused(cloud.assume, endpoint=endpoint, role=role, web_identity=strange) == "AccessDenied"
    own = cloud.token(installed, autoscaler.SPACE, autoscaler.ACCOUNT)
    teams = team_roles.role_arn(example.fleet, "main", "research")
    assert refused(cloud.assume, endpoint=endpoint, role=teams, web_identity=own) == "AccessDenied"
