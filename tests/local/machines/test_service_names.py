"""Balancers that send to healthy targets only, names from private zones, and launches that wait for what they need."""

import time

import pytest

from .inside import Inside, eventually, up

BALANCER = """
group = elb.create_target_group(
    Name="web", Protocol="TCP", Port=8080, VpcId=world["vpc"], TargetType="ip", HealthCheckProtocol="HTTP",
    HealthCheckPath="/name", HealthCheckIntervalSeconds=5, HealthCheckTimeoutSeconds=2, HealthyThresholdCount=2,
    UnhealthyThresholdCount=2, Matcher={"HttpCode": "200"},
)["TargetGroups"][0]["TargetGroupArn"]
balancer = elb.create_load_balancer(
    Name="web", Type="network", Scheme="internal",
    SubnetMappings=[{"SubnetId": world["a"], "PrivateIPv4Address": "10.128.0.50"},
                    {"SubnetId": world["b"], "PrivateIPv4Address": "10.128.1.50"}],
)["LoadBalancers"][0]
arn = balancer["LoadBalancerArn"]
cross = lambda on: elb.modify_load_balancer_attributes(
    LoadBalancerArn=arn, Attributes=[{"Key": "load_balancing.cross_zone.enabled", "Value": on}])
cross("true")
elb.create_listener(LoadBalancerArn=arn, Protocol="TCP", Port=80,
                    DefaultActions=[{"Type": "forward", "TargetGroupArn": group}])
elb.register_targets(TargetGroupArn=group, Targets=[{"Id": "10.128.0.10"}, {"Id": "10.128.0.11"}])
vpc = {"VPCRegion": "us-west-2", "VPCId": world["vpc"]}
zone = r53.create_hosted_zone(Name="fleet.example.com", CallerReference="x", VPC=vpc)["HostedZone"]["Id"]
alias = {"HostedZoneId": balancer["CanonicalHostedZoneId"], "DNSName": balancer["DNSName"], "EvaluateTargetHealth": False}
records = [
    {"Name": "api.fleet.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": a} for a in ("10.128.0.50", "10.128.1.50")]},
    {"Name": "alias.fleet.example.com", "Type": "A", "AliasTarget": alias},
    {"Name": "one.fleet.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.128.0.10"}]},
]
r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": [{"Action": "CREATE", "ResourceRecordSet": r} for r in records]})
health = lambda: {t["Target"]["Id"]: t["TargetHealth"]["State"] for t in elb.describe_target_health(TargetGroupArn=group)["TargetHealthDescriptions"]}
import urllib.request
ask = lambda url: urllib.request.urlopen(url, timeout=5).read().decode().strip()
"""
ASK = "result = ask(url)"


@pytest.fixture(scope="module")
def balanced(cloud: Inside) -> Inside:
    eventually(lambda: up(cloud, "one") and up(cloud, "two"))
    cloud(BALANCER)
    both = {"10.128.0.10": "healthy", "10.128.0.11": "healthy"}
    eventually(lambda: cloud("result = health()") == both)
    return cloud


def answers(cloud: Inside, url: str, count: int = 6) -> set[str]:
    return {cloud(ASK, url=url) for _ in range(count)}


def test_a_balancer_spreads_over_healthy_targets_and_leaves_out_the_others(balanced: Inside) -> None:
    assert answers(balanced, "http://10.128.0.50/name") == {"one", "two"}
    # A machine is behind a balancer that it asks itself: it must reach all targets, itself too.
    asked = "for i in 1 2 3 4 5 6; do curl -s http://10.128.1.50/name; done"
    assert set(balanced.sh("one", asked).split()) == {"one", "two"}
    balanced.sh("one", "mv /srv/name /srv/away")
    eventually(lambda: balanced("result = health()")["10.128.0.10"] == "unhealthy")
    assert answers(balanced, "http://10.128.0.50/name") == {"two"}
    reason = "result = [t['TargetHealth'] for t in elb.describe_target_health(TargetGroupArn=group)['TargetHealthDescriptions'] if t['Target']['Id'] == '10.128.0.10'][0]"
    assert balanced(reason)["Reason"] == "Target.ResponseCodeMismatch"
    balanced.sh("one", "mv /srv/away /srv/name")
    eventually(lambda: answers(balanced, "http://10.128.0.50/name") == {"one", "two"})


HOLD = """
import socket, threading
held = []
def hold():
    line = socket.create_connection(("10.128.0.50", 80), 5)
    line.sendall(b"GET /seen HTTP/1.1\\r\\nHost: x\\r\\n")
    held.append(line)
def told(line):
    line.sendall(b"\\r\\n")
    line.settimeout(5)
    try:
        return (line.recv(4096).decode() or "- ended").split(" ")[1]
    except OSError as error:
        return type(error).__name__
"""


def test_where_none_is_healthy_all_are_asked_and_nobody_s_call_is_ended(balanced: Inside) -> None:
    balanced(HOLD + "hold()\nhold()")
    for name in ("one", "two"):
        balanced.sh(name, "mv /srv/name /srv/away")
    eventually(lambda: set(balanced("result = health()").values()) == {"unhealthy"})
    assert answers(balanced, "http://10.128.0.50/seen") == {"of one", "of two"}
    # Of two calls under way, that to whoever was last to be unhealthy goes on.
    assert "200" in balanced("result = [told(line) for line in held]")
    balanced.sh("one", "mv /srv/away /srv/name")
    eventually(lambda: answers(balanced, "http://10.128.0.50/name") == {"one"})
    balanced.sh("two", "mv /srv/away /srv/name")
    eventually(lambda: answers(balanced, "http://10.128.0.50/name") == {"one", "two"})


def test_without_cross_zone_a_zone_sends_to_its_own_targets(balanced: Inside) -> None:
    def refused() -> bool:
        try:
            balanced(ASK, url="http://10.128.1.50/name")
        except RuntimeError as error:
            return any(word in str(error) for word in ("reset", "closed", "Reset", "aborted"))
        return False

    balanced("cross('false')")
    try:
        eventually(refused)
        assert answers(balanced, "http://10.128.0.50/name") == {"one", "two"}
    finally:
        balanced("cross('true')")


def test_targets_that_go_are_told_and_unused_ones_too(balanced: Inside) -> None:
    balanced("elb.deregister_targets(TargetGroupArn=group, Targets=[{'Id': '10.128.0.11'}])")
    eventually(lambda: answers(balanced, "http://10.128.0.50/name") == {"one"})
    balanced("elb.register_targets(TargetGroupArn=group, Targets=[{'Id': '10.128.0.11'}])")
    eventually(lambda: answers(balanced, "http://10.128.0.50/name") == {"one", "two"})
    balanced(
        """
        other = elb.create_target_group(Name="other", Protocol="TCP", Port=1, VpcId=world["vpc"], TargetType="ip")
        other = other["TargetGroups"][0]["TargetGroupArn"]
        elb.register_targets(TargetGroupArn=other, Targets=[{"Id": "10.128.0.10"}])
        """
    )
    state = "result = elb.describe_target_health(TargetGroupArn=other)['TargetHealthDescriptions'][0]['TargetHealth']['State']"
    assert balanced(state) == "unused"


def test_names_of_private_zones_are_known_on_machines_and_in_the_local_cloud(balanced: Inside) -> None:
    for url in ("http://api.fleet.example.com/name", "http://alias.fleet.example.com/name"):
        assert eventually(lambda url=url: answers(balanced, url, 2)) <= {"one", "two"}
        assert eventually(lambda url=url: balanced.sh("two", f"curl -s {url}").strip()) in ("one", "two")
    assert balanced.sh("two", "curl -s http://one.fleet.example.com:8080/name") == "one\n"
    assert balanced.sh("two", "hostname; getent hosts two").split()[:2] == ["two", "10.128.0.11"]
    balanced(
        """
        gone = [{"Action": "DELETE", "ResourceRecordSet": records[2]}]
        r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": gone})
        """
    )
    eventually(lambda: "one.fleet" not in (balanced.home / "cloud.hosts").read_text())
    eventually(lambda: "Could not resolve" in balanced.sh("two", "curl -sS http://one.fleet.example.com:8080/name"))
    assert (balanced.home / "cloud.hosts").read_text().startswith("127.0.0.1 localhost\n")


def test_a_launch_waits_for_its_interface_and_tells_why(cloud: Inside) -> None:
    """While another instance holds it the launch fails, and the group tries again."""
    cloud("publish('five', signed_by)")
    cloud(
        """
        machine('five', world, '10.128.0.15', '#!/bin/sh\\nsleep 1000')
        data = ec2.describe_launch_template_versions(LaunchTemplateName='five')['LaunchTemplateVersions'][0]['LaunchTemplateData']
        """
    )
    with pytest.raises(RuntimeError, match=r"InvalidNetworkInterface\.InUse"):
        cloud("ec2.run_instances(MinCount=1, MaxCount=1, LaunchTemplate={'LaunchTemplateName': 'five'})")
    first = cloud("result = instance('five')")
    eventually(lambda: cloud.machine("five")["state"] == "booting")
    began = time.monotonic()
    cloud("ec2.terminate_instances(InstanceIds=[first])", first=first)
    state = "result = ec2.describe_instances(InstanceIds=[first])['Reservations'][0]['Instances'][0]['State']['Name']"
    assert cloud(state) == "shutting-down"
    eventually(lambda: cloud("result = instance('five')") not in (None, first))
    assert time.monotonic() - began < 15
    assert cloud(state) == "terminated"
    told = cloud(
        "result = [a.get('StatusMessage') or '' for a in scaling.describe_scaling_activities(AutoScalingGroupName='five')['Activities']]"
    )
    assert any("in use" in text for text in told)


def test_an_instance_that_is_stopped_and_started_keeps_its_disk(cloud: Inside) -> None:
    cloud(
        """
        launch = {"MinCount": 1, "MaxCount": 1, "SubnetId": world["a"], "InstanceType": "t3.micro"}
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "landbridge:machine", "Value": "pet"}]}]
        data = "#!/bin/sh\\necho once >> /srv/boots"
        made = ec2.run_instances(ImageId=IMAGE, UserData=data, TagSpecifications=tags, **launch)
        pet = made["Instances"][0]["InstanceId"]
        """
    )
    eventually(lambda: cloud.sh("pet", "cat /srv/boots") == "once\n")
    cloud("ec2.stop_instances(InstanceIds=[pet])")
    eventually(lambda: cloud.machine("pet")["state"] == "stopped")
    cloud("ec2.start_instances(InstanceIds=[pet])")
    eventually(lambda: cloud.machine("pet")["state"] == "running")
    assert cloud.sh("pet", "cat /srv/boots") == "once\n"
    cloud("ec2.terminate_instances(InstanceIds=[pet])")
    eventually(lambda: "pet" not in [m["machine"] for m in cloud.machines() if m["state"] != "terminated"])
