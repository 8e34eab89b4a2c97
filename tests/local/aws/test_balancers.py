"""Network load balancers have their addresses, and target groups what a network load balancer needs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image, refused

Client = Callable[..., Any]
REGION = "eu-west-2"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def elb(client: Client) -> Any:
    return client("elbv2", REGION)


@pytest.fixture(scope="module")
def subnets(ec2: Any) -> list[Any]:
    return sorted(ec2.describe_subnets()["Subnets"], key=lambda subnet: subnet["AvailabilityZone"])[:2]


def address(subnet: Any, last: int) -> str:
    return f"{subnet['CidrBlock'].rpartition('.')[0]}.{last}"


@pytest.fixture
def given(ec2: Any, subnets: list[Any]) -> dict[str, Any]:
    groups = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [subnets[0]["VpcId"]]}])
    mappings = [{"SubnetId": s["SubnetId"], "PrivateIPv4Address": address(s, 50)} for s in subnets]
    return {
        "Name": "main-api",
        "Type": "network",
        "Scheme": "internal",
        "SubnetMappings": mappings,
        "SecurityGroups": [groups["SecurityGroups"][0]["GroupId"]],
    }


@pytest.fixture
def balancer(elb: Any, given: dict[str, Any]) -> Iterator[Any]:
    made = elb.create_load_balancer(**given)["LoadBalancers"][0]
    yield made
    elb.delete_load_balancer(LoadBalancerArn=made["LoadBalancerArn"])


@pytest.fixture
def group(elb: Any, subnets: list[Any]) -> Iterator[Any]:
    asked = {"Protocol": "TCP", "Port": 6443, "VpcId": subnets[0]["VpcId"]}
    made = elb.create_target_group(Name="api", TargetType="ip", **asked)["TargetGroups"][0]
    yield made
    elb.delete_target_group(TargetGroupArn=made["TargetGroupArn"])


def interfaces(ec2: Any, arn: str) -> list[Any]:
    described = "ELB " + arn.partition(":loadbalancer/")[2]
    return list(
        ec2.describe_network_interfaces(Filters=[{"Name": "description", "Values": [described]}])["NetworkInterfaces"]
    )


def test_it_has_the_addresses_that_were_asked_for(elb: Any, ec2: Any, balancer: Any, subnets: list[Any]) -> None:
    arn = balancer["LoadBalancerArn"]
    (read,) = elb.describe_load_balancers(LoadBalancerArns=[arn])["LoadBalancers"]
    assert (read["State"]["Code"], read["Type"], read["Scheme"]) == ("active", "network", "internal")
    assert ":loadbalancer/net/main-api/" in arn
    assert read["DNSName"].endswith(f".elb.{REGION}.amazonaws.com")
    zones = {zone["SubnetId"]: zone["LoadBalancerAddresses"] for zone in read["AvailabilityZones"]}
    assert zones == {s["SubnetId"]: [{"PrivateIPv4Address": address(s, 50)}] for s in subnets}
    owned = interfaces(ec2, arn)
    assert {eni["PrivateIpAddress"] for eni in owned} == {address(s, 50) for s in subnets}
    assert {(eni["Status"], eni["InterfaceType"]) for eni in owned} == {("in-use", "network_load_balancer")}
    assert [g["GroupId"] for g in owned[0]["Groups"]] == balancer["SecurityGroups"]
    taken = {"SubnetId": subnets[0]["SubnetId"], "PrivateIpAddress": address(subnets[0], 50)}
    assert refused(ec2.create_network_interface, **taken) == "InvalidIPAddress.InUse"
    held = owned[0]["NetworkInterfaceId"]
    assert refused(ec2.delete_network_interface, NetworkInterfaceId=held) == "InvalidNetworkInterface.InUse"
    assert refused(ec2.delete_subnet, SubnetId=subnets[0]["SubnetId"]) == "DependencyViolation"


def test_its_interfaces_go_with_it(elb: Any, ec2: Any, given: dict[str, Any]) -> None:
    arn = elb.create_load_balancer(**given)["LoadBalancers"][0]["LoadBalancerArn"]
    elb.delete_load_balancer(LoadBalancerArn=arn)
    assert interfaces(ec2, arn) == []
    elb.delete_load_balancer(LoadBalancerArn=arn)  # "has already been deleted, the call succeeds"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, "DuplicateLoadBalancerName"),
        ({"Name": "x" * 33}, "ValidationError"),
        ({"Name": "other"}, "InvalidConfigurationRequest"),  # the addresses are taken
        ({"Name": "other", "Scheme": "internet-facing"}, "ValidationError"),
        ({"Name": "other", "SecurityGroups": ["sg-1"]}, "InvalidSecurityGroup"),
    ],
)
def test_what_can_t_be_is_refused(elb: Any, balancer: Any, given: dict[str, Any], change: Any, code: str) -> None:
    assert refused(elb.create_load_balancer, **{**given, **change}) == code
    assert len(elb.describe_load_balancers()["LoadBalancers"]) == 1


def test_without_addresses_it_has_some_that_it_does_not_tell(elb: Any, ec2: Any, subnets: list[Any]) -> None:
    asked = {"Type": "network", "Subnets": [s["SubnetId"] for s in subnets]}
    (made,) = elb.create_load_balancer(Name="free", **asked)["LoadBalancers"]
    assert [zone.get("LoadBalancerAddresses", []) for zone in made["AvailabilityZones"]] == [[], []]
    owned = interfaces(ec2, made["LoadBalancerArn"])
    assert len(owned) == 2
    assert owned[0]["Groups"] == []
    sets = {"LoadBalancerArn": made["LoadBalancerArn"], "SecurityGroups": []}
    assert refused(elb.set_security_groups, **sets) == "InvalidConfigurationRequest"
    elb.delete_load_balancer(LoadBalancerArn=made["LoadBalancerArn"])


def test_new_groups_are_on_its_interfaces_too(elb: Any, ec2: Any, balancer: Any) -> None:
    group = ec2.create_security_group(GroupName="more", Description="x", VpcId=balancer["VpcId"])["GroupId"]
    elb.set_security_groups(LoadBalancerArn=balancer["LoadBalancerArn"], SecurityGroups=[group])
    assert [[g["GroupId"] for g in eni["Groups"]] for eni in interfaces(ec2, balancer["LoadBalancerArn"])] == [
        [group]
    ] * 2


def test_what_is_protected_is_not_deleted(elb: Any, balancer: Any) -> None:
    arn, key = balancer["LoadBalancerArn"], "deletion_protection.enabled"
    elb.modify_load_balancer_attributes(LoadBalancerArn=arn, Attributes=[{"Key": key, "Value": "true"}])
    assert refused(elb.delete_load_balancer, LoadBalancerArn=arn) == "OperationNotPermitted"
    elb.modify_load_balancer_attributes(LoadBalancerArn=arn, Attributes=[{"Key": key, "Value": "false"}])


def test_a_port_has_one_listener_and_a_group_tells_its_balancers(elb: Any, balancer: Any, group: Any) -> None:
    actions = [{"Type": "forward", "TargetGroupArn": group["TargetGroupArn"]}]
    asked = {"LoadBalancerArn": balancer["LoadBalancerArn"], "Protocol": "TCP", "Port": 6443, "DefaultActions": actions}
    (listener,) = elb.create_listener(**asked)["Listeners"]
    assert refused(elb.create_listener, **asked) == "DuplicateListener"

    def users() -> list[str]:
        (read,) = elb.describe_target_groups(TargetGroupArns=[group["TargetGroupArn"]])["TargetGroups"]
        return list(read["LoadBalancerArns"])

    assert users() == [balancer["LoadBalancerArn"]]
    assert refused(elb.delete_target_group, TargetGroupArn=group["TargetGroupArn"]) == "ResourceInUse"
    elb.delete_listener(ListenerArn=listener["ListenerArn"])
    assert users() == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"Protocol": "TLS"}, "serves TCP listeners, not TLS"),
        ({"Protocol": "UDP"}, "serves TCP listeners, not UDP"),
        ({"DefaultActions": "two"}, "serves listeners that forward to one target group"),
        ({"DefaultActions": "machines"}, "can't honour preserve_client_ip.enabled of target group machines"),
        ({"DefaultActions": "tls"}, "target group tls has TLS to targets of type ip"),
        ({"LoadBalancerArn": "outside"}, "serves internal network load balancers, and outside is an internet-facing"),
        ({"LoadBalancerArn": "http"}, "serves internal network load balancers, and http is an application one"),
    ],
    ids=lambda one: "" if isinstance(one, str) else "-".join(one.values()),
)
def test_a_listener_that_nobody_would_serve_is_refused_and_not_deaf(
    elb: Any, balancer: Any, group: Any, subnets: list[Any], change: dict[str, str], why: str
) -> None:
    vpc, names = subnets[0]["VpcId"], [s["SubnetId"] for s in subnets]

    def forward(*arns: str) -> list[dict[str, Any]]:
        if len(arns) == 1:
            return [{"Type": "forward", "TargetGroupArn": arns[0]}]
        weighed = [{"TargetGroupArn": arn, "Weight": 1} for arn in arns]
        return [{"Type": "forward", "ForwardConfig": {"TargetGroups": weighed}}]

    def another(name: str, protocol: str, kind: str) -> str:
        asked = {"Protocol": protocol, "Port": 443, "VpcId": vpc, "TargetType": kind}
        return str(elb.create_target_group(Name=name, **asked)["TargetGroups"][0]["TargetGroupArn"])

    balancers = {"outside": {"Type": "network"}, "http": {"Type": "application", "Scheme": "internal"}}
    groups = {"machines": ("TCP", "instance"), "tls": ("TLS", "ip"), "two": ("TCP", "ip")}
    made, asked = [], {"Protocol": "TCP", "Port": 443, "DefaultActions": forward(group["TargetGroupArn"])}
    asked["LoadBalancerArn"] = balancer["LoadBalancerArn"]
    for key, what in change.items():
        if what in groups:
            made.append(another(what, *groups[what]))
            asked[key] = forward(*made, *([group["TargetGroupArn"]] if what == "two" else []))
        elif what in balancers:
            new = elb.create_load_balancer(Name=what, Subnets=names, **balancers[what])["LoadBalancers"][0]
            made.append(new["LoadBalancerArn"])
            asked[key] = made[-1]
        else:
            asked[key] = what
    with pytest.raises(ClientError, match=why) as caught:
        elb.create_listener(**asked)
    assert caught.value.response["Error"]["Code"] == "InvalidConfigurationRequest"
    assert elb.describe_listeners(LoadBalancerArn=asked["LoadBalancerArn"])["Listeners"] == []
    for arn in made:
        if ":loadbalancer/" in arn:
            elb.delete_load_balancer(LoadBalancerArn=arn)
        else:
            elb.delete_target_group(TargetGroupArn=arn)


def test_a_listener_does_not_become_what_nobody_serves(elb: Any, balancer: Any, group: Any) -> None:
    arn, actions = group["TargetGroupArn"], [{"Type": "forward", "TargetGroupArn": group["TargetGroupArn"]}]
    asked = {"LoadBalancerArn": balancer["LoadBalancerArn"], "Protocol": "TCP", "Port": 443, "DefaultActions": actions}
    listener = elb.create_listener(**asked)["Listeners"][0]["ListenerArn"]
    code = "InvalidConfigurationRequest"
    assert refused(elb.modify_listener, ListenerArn=listener, Protocol="TLS", DefaultActions=actions) == code
    for name in ("preserve_client_ip.enabled", "proxy_protocol_v2.enabled"):
        on = [{"Key": name, "Value": "true"}]
        assert refused(elb.modify_target_group_attributes, TargetGroupArn=arn, Attributes=on) == code
    assert elb.modify_listener(ListenerArn=listener, Port=444, DefaultActions=actions)["Listeners"][0]["Port"] == 444
    elb.delete_listener(ListenerArn=listener)


def test_attributes_start_as_the_kind_of_target_has_them(elb: Any, group: Any, subnets: list[Any]) -> None:
    def keeps(arn: str) -> str:
        read = elb.describe_target_group_attributes(TargetGroupArn=arn)["Attributes"]
        return next(each["Value"] for each in read if each["Key"] == "preserve_client_ip.enabled")

    asked = {"Protocol": "TCP", "Port": 6443, "VpcId": subnets[0]["VpcId"]}
    (machines,) = elb.create_target_group(Name="machines", TargetType="instance", **asked)["TargetGroups"]
    assert (keeps(group["TargetGroupArn"]), keeps(machines["TargetGroupArn"])) == ("false", "true")
    missing = [{"Id": "i-00000000000000000"}]
    assert refused(elb.register_targets, TargetGroupArn=machines["TargetGroupArn"], Targets=missing) == "InvalidTarget"
    elb.delete_target_group(TargetGroupArn=machines["TargetGroupArn"])


def test_a_check_over_https_has_a_matcher_that_can_change(elb: Any, group: Any) -> None:
    check = {"TargetGroupArn": group["TargetGroupArn"], "HealthCheckProtocol": "HTTPS", "HealthCheckPath": "/readyz"}
    (changed,) = elb.modify_target_group(**check)["TargetGroups"]
    assert changed["Matcher"] == {"HttpCode": "200-399"}
    (changed,) = elb.modify_target_group(**check, Matcher={"HttpCode": "200"})["TargetGroups"]
    assert changed["Matcher"] == {"HttpCode": "200"}


def test_addresses_are_targets_and_leave_without_complaint(elb: Any, group: Any, subnets: list[Any]) -> None:
    arn, inside, outside = group["TargetGroupArn"], address(subnets[0], 9), "10.200.0.1"
    assert refused(elb.register_targets, TargetGroupArn=arn, Targets=[{"Id": outside}]) == "ValidationError"
    everywhere = {"Id": outside, "AvailabilityZone": "all"}
    elb.register_targets(TargetGroupArn=arn, Targets=[{"Id": inside}, everywhere])
    health = elb.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
    assert [(each["Target"]["Id"], each["TargetHealth"]["State"]) for each in health] == [
        (inside, "healthy"),
        (outside, "healthy"),
    ]
    elb.deregister_targets(TargetGroupArn=arn, Targets=[{"Id": inside}])
    elb.deregister_targets(TargetGroupArn=arn, Targets=[{"Id": inside}])


def test_a_group_s_machines_join_and_leave(client: Client, elb: Any, ec2: Any, subnets: list[Any]) -> None:
    scaling = client("autoscaling", REGION)
    asked = {"Protocol": "TCP", "Port": 6443, "VpcId": subnets[0]["VpcId"]}
    arn = elb.create_target_group(Name="pool", **asked)["TargetGroups"][0]["TargetGroupArn"]
    data = {"ImageId": image(ec2), "InstanceType": "t3.micro"}
    template = ec2.create_launch_template(LaunchTemplateName="pool", LaunchTemplateData=data)["LaunchTemplate"]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="pool",
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=subnets[0]["SubnetId"],
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"]},
    )
    scaling.attach_load_balancer_target_groups(AutoScalingGroupName="pool", TargetGroupARNs=[arn])
    assert len(elb.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]) == 2
    scaling.detach_load_balancer_target_groups(AutoScalingGroupName="pool", TargetGroupARNs=[arn])
    assert elb.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"] == []
    scaling.delete_auto_scaling_group(AutoScalingGroupName="pool", ForceDelete=True)
    elb.delete_target_group(TargetGroupArn=arn)
