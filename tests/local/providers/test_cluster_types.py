"""The types of the cluster and pool stacks, on the real engine: made, kept, changed, drifted, replaced, gone."""

import json
import re

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
import base64, json
tags = {{"word": "{word}"}}
def allow(effect, **more):
    return json.dumps({{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", **effect}}]}})
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", opts=opts)
subnet = aws.ec2.Subnet("s", vpc_id=vpc.id, cidr_block="10.128.1.0/24", availability_zone="us-west-2a", opts=opts)
group = aws.ec2.SecurityGroup("g", vpc_id=vpc.id, opts=opts)
other = aws.ec2.SecurityGroup("h", vpc_id=vpc.id, opts=opts)
role = aws.iam.Role("r", assume_role_policy=allow({{"Principal": {{"Service": "ec2.amazonaws.com"}}, "Action": "sts:AssumeRole"}}), opts=opts)
profile = aws.iam.InstanceProfile("i", role=role.name, opts=opts)
policy = aws.iam.Policy("p", policy=allow({{"Action": "s3:GetObject", "Resource": "arn:aws:s3:::{word}/*"}}), tags=tags, opts=opts)
aws.iam.RolePolicyAttachment("pa", role=role.name, policy_arn=policy.arn, opts=opts)
aws.iam.OpenIdConnectProvider("oidc", url="https://oidc.example.com/main", client_id_lists=["sts.amazonaws.com"], tags=tags, opts=opts)
key = aws.kms.Key("k", deletion_window_in_days=7, opts=opts)
aws.ebs.Volume("vol", availability_zone="us-west-2{zone}", size={size}, type="gp3", iops=3000, throughput={throughput}, encrypted=True, kms_key_id=key.arn, tags=tags, opts=opts)
aws.ec2.NetworkInterface("eni", subnet_id=subnet.id, private_ips=["10.128.1.{address}"], security_groups=[group.id], source_dest_check={on}, description="{word}", tags=tags, opts=opts)
place = aws.ec2.PlacementGroup("pg", strategy="cluster", tags=tags, opts=opts)
aws.ec2.PlacementGroup("unused", strategy="{strategy}", opts=opts)
template = aws.ec2.LaunchTemplate("t", image_id="ami-1e749f67", instance_type="{machine}", user_data=base64.b64encode(b"{word}").decode(),
    iam_instance_profile={{"name": profile.name}}, metadata_options={{"http_tokens": "required", "http_put_response_hop_limit": 1, "http_endpoint": "enabled"}},
    block_device_mappings=[{{"device_name": "/dev/sda1", "ebs": {{"encrypted": "true", "kms_key_id": key.arn, "volume_size": {size}, "volume_type": "gp3", "delete_on_termination": "true"}}}}],
    network_interfaces=[{{"associate_public_ip_address": "false", "device_index": 0, "security_groups": [group.id], "delete_on_termination": "true"}}],
    monitoring={{"enabled": {on}}}, placement={{"group_name": place.name}}, instance_market_options={{"market_type": "spot"}},
    tag_specifications=[{{"resource_type": "instance", "tags": tags}}], update_default_version=True, tags=tags, opts=opts)
target = aws.lb.TargetGroup("tg", port={group_port}, protocol="TCP", target_type="ip", vpc_id=vpc.id, preserve_client_ip="false", deregistration_delay={count},
    health_check={{"protocol": "TCP", "interval": 10, "healthy_threshold": {most}}}, tags=tags, opts=opts)
balancer = aws.lb.LoadBalancer("nlb", load_balancer_type="network", internal=True, subnet_mappings=[{{"subnet_id": subnet.id, "private_ipv4_address": "10.128.1.{balancer}"}}],
    security_groups=[{groups}], enable_cross_zone_load_balancing={on}, enable_deletion_protection=False, tags=tags, opts=opts)
aws.lb.Listener("l", load_balancer_arn=balancer.arn, port={port}, protocol="TCP", default_actions=[{{"type": "forward", "target_group_arn": target.arn}}], tags=tags, opts=opts)
aws.lb.TargetGroupAttachment("ta", target_group_arn=target.arn, target_id="10.128.1.{address}", opts=opts)
machines = aws.lb.TargetGroup("mg", port=6443, protocol="TCP", target_type="instance", vpc_id=vpc.id, preserve_client_ip="{client}", opts=opts)
scaling = aws.autoscaling.Group("asg", min_size=0, max_size={most}, desired_capacity=1, launch_template={{"id": template.id, "version": template.latest_version.apply(str)}},
    vpc_zone_identifiers=[subnet.id], tags=[{{"key": "pool", "value": "gpu", "propagate_at_launch": True}}], protect_from_scale_in={on}, suspended_processes=["AZRebalance", "{process}"],
    target_group_arns=[machines.arn][:{attached}], health_check_type="EC2", health_check_grace_period={count}, termination_policies=["OldestInstance"], capacity_rebalance={on},
    initial_lifecycle_hooks=[{{"name": "up", "lifecycle_transition": "autoscaling:EC2_INSTANCE_LAUNCHING", "heartbeat_timeout": 600}}], force_delete=True,
    opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes={ignored})))
aws.autoscaling.LifecycleHook("hook", autoscaling_group_name=scaling.name, lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING", heartbeat_timeout={count}, default_result="CONTINUE", opts=opts)
zone = aws.route53.Zone("z", name="z.example.com", vpcs=[{{"vpc_id": vpc.id, "vpc_region": "us-west-2"}}], opts=opts)
aws.route53.Record("a", zone_id=zone.zone_id, name="{host}-etcd-1.z.example.com", type="A", ttl={count}, records=["10.128.1.{address}"], opts=opts)
aws.route53.Record("alias", zone_id=zone.zone_id, name="{host}.z.example.com", type="A", aliases=[{{"name": balancer.dns_name, "zone_id": balancer.zone_id, "evaluate_target_health": {on}}}], opts=opts)
bucket = aws.s3.Bucket("b", opts=opts)
aws.s3.BucketObjectv2("o", bucket=bucket.bucket, key="{name}.json", content="{word}", content_type="application/json", server_side_encryption="aws:kms", kms_key_id=key.arn, tags=tags, opts=opts)
aws.ssm.Parameter("sp", name="/main/{name}", type="SecureString", value="hush-{word}", tags=tags, opts=opts)
secret = aws.secretsmanager.Secret("sec", name="main/{name}", recovery_window_in_days=0, opts=opts)
aws.secretsmanager.SecretVersion("sv", secret_id=secret.id, secret_string="hush-secret-{word}", opts=opts)
aws.cloudwatch.LogGroup("lg", retention_in_days=7, opts=opts)
pulumi.export("asg", scaling.name)
pulumi.export("balancer", [balancer.arn_suffix, balancer.subnet_mappings[0]["private_ipv4_address"]])
"""
BEFORE = {
    "word": "one",
    "machine": "m7i.large",
    "size": 10,
    "count": 300,
    "most": 3,
    "on": False,
    "port": 6443,
    "throughput": 125,
    "client": "true",
    "groups": "group.id",
    "process": "ReplaceUnhealthy",
    "attached": 0,
    "address": 10,
    "balancer": 20,
    "strategy": "cluster",
    "group_port": 6443,
    "host": "main",
    "name": "one",
    "zone": "a",
    "ignored": [],
}
# What changes in place.
AFTER = {
    "word": "two",
    "machine": "m7i.xlarge",
    "size": 20,
    "count": 120,
    "most": 4,
    "on": True,
    "port": 6444,
    "throughput": 250,
    "client": "false",
    "groups": "group.id, other.id",
    "process": "Launch",
    "attached": 1,
}
# What replaces, and only that.
ANEW = {
    "address": 11,
    "balancer": 21,
    "strategy": "spread",
    "group_port": 6444,
    "host": "api",
    "name": "two",
    "zone": "b",
}
IN_PLACE = {
    *("iam:OpenIdConnectProvider", "iam:Policy", "ec2:PlacementGroup", "ssm:Parameter", "lb:TargetGroup", "ebs:Volume"),
    *("s3:BucketObjectv2", "ec2:NetworkInterface", "route53:Record", "lb:LoadBalancer", "lb:Listener"),
    *("ec2:LaunchTemplate", "autoscaling:Group", "autoscaling:LifecycleHook"),
}
REPLACED = {
    *("ec2:PlacementGroup", "ssm:Parameter", "lb:TargetGroup", "ebs:Volume", "s3:BucketObjectv2", "route53:Record"),
    *("ec2:NetworkInterface", "lb:LoadBalancer", "lb:Listener"),
    *("secretsmanager:Secret", "secretsmanager:SecretVersion"),
}
# What somebody changes with calls of his own, and what a refresh says to that.
DRIFT = """\
ec2, asg, elb, s3, r53, iam, ssm = (client(name, "us-west-2") for name in ("ec2", "autoscaling", "elbv2", "s3", "route53", "iam", "ssm"))
ours = [{"Name": "tag:word", "Values": ["one"]}]
eni = ec2.describe_network_interfaces(Filters=ours)["NetworkInterfaces"][0]["NetworkInterfaceId"]
ec2.modify_network_interface_attribute(NetworkInterfaceId=eni, Description={"Value": "drifted"})
volume = ec2.describe_volumes(Filters=ours)["Volumes"][0]["VolumeId"]
ec2.modify_volume(VolumeId=volume, Throughput=500)
place = next(p for p in ec2.describe_placement_groups()["PlacementGroups"] if p.get("Tags"))
ec2.create_tags(Resources=[place["GroupId"]], Tags=[{"Key": "word", "Value": "drifted"}])
template = ec2.describe_launch_templates(Filters=ours)["LaunchTemplates"][0]["LaunchTemplateId"]
ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData={"InstanceType": "t3.micro"})
balancer = elb.describe_load_balancers()["LoadBalancers"][0]["LoadBalancerArn"]
elb.modify_load_balancer_attributes(LoadBalancerArn=balancer, Attributes=[{"Key": "load_balancing.cross_zone.enabled", "Value": "true"}])
listener = elb.describe_listeners(LoadBalancerArn=balancer)["Listeners"][0]
target = listener["DefaultActions"][0]["TargetGroupArn"]
elb.modify_listener(ListenerArn=listener["ListenerArn"], Port=7443, DefaultActions=listener["DefaultActions"])
elb.modify_target_group(TargetGroupArn=target, HealthCheckIntervalSeconds=20)
elb.deregister_targets(TargetGroupArn=target, Targets=[{"Id": "10.128.1.10"}])
group = asg.describe_auto_scaling_groups()["AutoScalingGroups"][0]["AutoScalingGroupName"]
asg.update_auto_scaling_group(AutoScalingGroupName=group, MaxSize=9, DesiredCapacity=2)
hook = next(h for h in asg.describe_lifecycle_hooks(AutoScalingGroupName=group)["LifecycleHooks"] if h["LifecycleHookName"] != "up")
asg.put_lifecycle_hook(LifecycleHookName=hook["LifecycleHookName"], AutoScalingGroupName=group, LifecycleTransition=hook["LifecycleTransition"], HeartbeatTimeout=60)
zone = next(z["Id"] for z in r53.list_hosted_zones()["HostedZones"] if z["Name"] == "z.example.com.")
sets = r53.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
drifted = [{**next(r for r in sets if r["Name"].startswith("main-etcd-1.")), "TTL": 5}]
gone = [r for r in sets if "AliasTarget" in r]
r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": [{"Action": "UPSERT", "ResourceRecordSet": r} for r in drifted] + [{"Action": "DELETE", "ResourceRecordSet": r} for r in gone]})
bucket = next(b["Name"] for b in s3.list_buckets()["Buckets"] if b["Name"].startswith("b-"))
s3.put_object(Bucket=bucket, Key="one.json", Body=b"x", ContentType="text/plain")
ssm.put_parameter(Name="/main/one", Value="hush-drifted", Type="SecureString", Overwrite=True)
role = next(r["RoleName"] for r in iam.list_roles()["Roles"] if r["RoleName"].startswith("r-"))
policy = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"][0]["PolicyArn"]
iam.detach_role_policy(RoleName=role, PolicyArn=policy)
iam.create_policy_version(PolicyArn=policy, PolicyDocument='{"Version": "2012-10-17", "Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}', SetAsDefault=True)
oidc = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"][0]["Arn"]
iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=oidc, Tags=[{"Key": "word", "Value": "drifted"}])
"""
DRIFTED = IN_PLACE
VANISHED = {"lb:TargetGroupAttachment", "route53:Record", "iam:RolePolicyAttachment"}
# Everything goes, in an order that AWS allows.
CLEARED = """\
ec2, asg, elb, s3, r53, iam, ssm = (client(name, "us-west-2") for name in ("ec2", "autoscaling", "elbv2", "s3", "route53", "iam", "ssm"))
for group in asg.describe_auto_scaling_groups()["AutoScalingGroups"]:
    asg.delete_auto_scaling_group(AutoScalingGroupName=group["AutoScalingGroupName"], ForceDelete=True)
for template in ec2.describe_launch_templates()["LaunchTemplates"]:
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])
for balancer in elb.describe_load_balancers()["LoadBalancers"]:
    elb.delete_load_balancer(LoadBalancerArn=balancer["LoadBalancerArn"])
for group in elb.describe_target_groups()["TargetGroups"]:
    elb.delete_target_group(TargetGroupArn=group["TargetGroupArn"])
for eni in ec2.describe_network_interfaces(Filters=[{"Name": "description", "Values": ["one"]}])["NetworkInterfaces"]:
    ec2.delete_network_interface(NetworkInterfaceId=eni["NetworkInterfaceId"])
for volume in ec2.describe_volumes()["Volumes"]:
    ec2.delete_volume(VolumeId=volume["VolumeId"])
for place in ec2.describe_placement_groups()["PlacementGroups"]:
    ec2.delete_placement_group(GroupName=place["GroupName"])
zone = next(z["Id"] for z in r53.list_hosted_zones()["HostedZones"] if z["Name"] == "z.example.com.")
sets = [r for r in r53.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"] if r["Type"] == "A"]
r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": [{"Action": "DELETE", "ResourceRecordSet": r} for r in sets]})
bucket = next(b["Name"] for b in s3.list_buckets()["Buckets"] if b["Name"].startswith("b-"))
s3.delete_object(Bucket=bucket, Key="two.json")
ssm.delete_parameter(Name="/main/two")
role = next(r["RoleName"] for r in iam.list_roles()["Roles"] if r["RoleName"].startswith("r-"))
for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
    iam.detach_role_policy(RoleName=role, PolicyArn=attached["PolicyArn"])
    iam.delete_policy(PolicyArn=attached["PolicyArn"])
for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider["Arn"])
"""


def written(**values: object) -> str:
    return PROGRAM.format(**{**BEFORE, **values})


def done(output: str, what: str) -> set[str]:
    """The types that an update says this of; of ours, the provider's own are left out."""
    return set(re.findall(rf"aws:(\S+) \S+ {what} \(", output))


def left(project: Project) -> dict[str, list[str]]:  # noqa: F811
    """What of ours is in the region or anywhere; the account has things of its own in each region."""
    project.cloud.python("client('ec2', 'us-west-2').describe_vpcs()\n")  # moto makes a region when it is first used
    listed = project.cloud.inventory()["123456789012"]
    return {kind: ids for region in ("us-west-2", "aws") for kind, ids in listed.get(region, {}).items()}


def test_they_are_made_kept_changed_and_gone(project: Project) -> None:  # noqa: F811
    before = left(project)
    project.program(written())
    project.up()
    project.up("--refresh", "--expect-no-changes")
    assert "hush-" not in project.state(), "neither the parameter's value nor the secret's"
    suffix, address = json.loads(project.pulumi("stack", "output", "balancer", "--json"))
    assert (suffix[:8], address) == ("net/nlb-", "10.128.1.20")
    made = left(project)
    assert {"elbv2 load balancers", "ec2 placement groups", "ec2 instances", "route53 records"} <= made.keys()
    project.program(written(**AFTER))
    changed = project.up()
    assert done(changed, "updated") == IN_PLACE
    assert done(changed, "replaced") == {"secretsmanager:SecretVersion"}, "a secret's value is a version of its own"
    project.pulumi("destroy", "--yes", "--skip-preview")
    assert left(project) == before


def test_drift_is_seen_replacements_are_made_and_what_is_gone_is_gone(project: Project) -> None:  # noqa: F811
    before = left(project)
    scaled = {"ignored": ["desiredCapacity"]}
    project.program(written(**scaled))
    project.up()
    project.cloud.python(DRIFT)
    refreshed = project.pulumi("refresh", "--yes", "--skip-preview")
    assert done(refreshed, "updated") == DRIFTED
    assert done(refreshed, "deleted") == VANISHED
    # Back to what the program says, but for the size that it leaves to the autoscaler; and all that must be new is.
    project.program(written(**scaled, **ANEW))
    output = project.up()
    assert done(output, "replaced") == REPLACED
    assert done(output, "created") == VANISHED
    size = "print([g['DesiredCapacity'] for g in client('autoscaling', 'us-west-2').describe_auto_scaling_groups()['AutoScalingGroups']])\n"
    assert project.cloud.python(size).strip() == "[2]"
    project.program(written(**scaled, **ANEW).replace('"value": "gpu"', '"value": "cpu"'))
    assert done(project.up(), "updated") == {"autoscaling:Group"}
    project.cloud.python(CLEARED)
    project.pulumi("destroy", "--yes", "--skip-preview")
    assert left(project) == before
