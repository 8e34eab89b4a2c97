"""What somebody has deleted or changed behind our back: `up --refresh` makes it anew, and `destroy` does not stumble over it."""

import json

import pytest

from tests.e2e.test_lifecycle import changes
from tests.support.cloud import Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1500)]
# By kinds, each as somebody does it in a console: what is in the way goes first.
BEHIND = """
import sys
REGION, ACCOUNT = "us-west-2", "123456789012"
of = {name: client(name, REGION) for name in ("ec2", "iam", "s3", "route53", "autoscaling", "efs", "logs", "elbv2")}
def named(items, part, key="Tags"):
    return [one for one in items if any(tag["Key"] == "Name" and part in tag["Value"] for tag in one.get(key, ()))]
def subnet():
    ec2 = of["ec2"]
    # That of a zone without a NAT gateway.
    used = {one["SubnetId"] for one in ec2.describe_network_interfaces()["NetworkInterfaces"]}
    free = [one for one in named(ec2.describe_subnets()["Subnets"], "test-us-west-2") if one["SubnetId"] not in used]
    ec2.delete_subnet(SubnetId=free[0]["SubnetId"])
    return free[0]["SubnetId"]
def role():
    iam = of["iam"]
    name = next(one["RoleName"] for one in iam.list_roles()["Roles"] if "west-gpu" in one["RoleName"])
    for one in iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"]:
        iam.remove_role_from_instance_profile(InstanceProfileName=one["InstanceProfileName"], RoleName=name)
    for one in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=one)
    for one in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=name, PolicyArn=one["PolicyArn"])
    iam.delete_role(RoleName=name)
    return name
def tunnel():
    live = [{"Name": "state", "Values": ["available"]}]
    (one,) = of["ec2"].describe_vpn_connections(Filters=live)["VpnConnections"]
    of["ec2"].delete_vpn_connection(VpnConnectionId=one["VpnConnectionId"])
    return one["VpnConnectionId"]
def bucket():
    s3, name = client("s3", "us-east-1"), f"test-us-east-1-{ACCOUNT}"
    told = s3.list_object_versions(Bucket=name)
    for one in (*told.get("Versions", ()), *told.get("DeleteMarkers", ())):
        s3.delete_object(Bucket=name, Key=one["Key"], VersionId=one["VersionId"])
    s3.delete_bucket(Bucket=name)
    return name
def zone():
    dns = of["route53"]
    found = next(one for one in dns.list_hosted_zones()["HostedZones"] if one["Name"].startswith("us-east-1."))
    for one in dns.list_resource_record_sets(HostedZoneId=found["Id"])["ResourceRecordSets"]:
        if one["Type"] not in ("NS", "SOA"):
            change = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": one}]}
            dns.change_resource_record_sets(HostedZoneId=found["Id"], ChangeBatch=change)
    dns.delete_hosted_zone(Id=found["Id"])
    return found["Name"]
def group():
    name = next(one["AutoScalingGroupName"] for one in of["autoscaling"].describe_auto_scaling_groups()["AutoScalingGroups"]
                if "west-gpu" in one["AutoScalingGroupName"])
    of["autoscaling"].delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
    return name
def template():
    of["ec2"].delete_launch_template(LaunchTemplateName="test-cpu-node")
    return "test-cpu-node"
def rule():
    ec2 = of["ec2"]
    found = named(ec2.describe_security_groups()["SecurityGroups"], "test-main-etcd")[0]
    ec2.revoke_security_group_ingress(GroupId=found["GroupId"], IpPermissions=found["IpPermissions"])
    return found["GroupId"]
def log_group():
    name = of["logs"].describe_log_groups()["logGroups"][0]["logGroupName"]
    of["logs"].delete_log_group(logGroupName=name)
    return name
for what in sys.argv[1:]:
    print(what, globals()[what]())
"""
TOUCHED = {"us-west-2", "us-east-1", "links", "main", "west-gpu", "east-gpu", "cpu"}
KINDS = ("subnet", "role", "tunnel", "bucket", "zone", "group", "template", "rule", "log_group")


def behind(cloud: Cloud, *what: str) -> None:
    done = cloud.python("import sys; sys.argv[1:] = " + json.dumps(what) + BEHIND)
    assert [line.split()[0] for line in done.splitlines()] == list(what)


def test_up_with_refresh_makes_anew_what_is_gone(in_all: Cloud) -> None:
    behind(in_all, *KINDS)
    anew = changes(in_all.report("up", "--local", "--refresh", "--yes", seconds=900))
    assert {stack for stack, found in anew.items() if set(found) != {"same"}} == TOUCHED
    in_all.run("up", "--local", "--full", "--expect-no-changes", seconds=600)


def test_destroy_does_not_stumble_over_what_is_gone(in_all: Cloud) -> None:
    behind(in_all, *KINDS)
    in_all.run("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes", seconds=900)
