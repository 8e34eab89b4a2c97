"""What is let pass for servers for laptops, where they are and nowhere else."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from components.control_plane.aws.roles import trust
from components.links.laptops.aws.roles import permissions
from components.links.laptops.spec import laptops_spec
from fleet.world import World
from policies.aws import addresses as aws_addresses
from policies.aws import exposure as aws_exposure
from policies.aws import machines as aws_machines
from policies.reading import UNKNOWN, Finding, Item

from .judging import example

REGION, STACK, ACCOUNT = "us-west-2", "us-west-2-laptops", "123456789012"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-0000-0000-000000000001"
BUCKET = f"arn:aws:s3:::example-{REGION}-{ACCOUNT}"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:example/laptops"


@pytest.fixture(scope="module")
def world() -> World:
    return example()


def item(kind: str, stack: str, **props: Any) -> Item:
    urn = f"urn:pulumi:{stack}::landbridge::{kind}::one"
    return Item(kind, "one", urn, props, protect=False, provider=stack)


def role(world: World, document: Any, server: str = "us-west-2-vpn-1") -> list[Finding]:
    tags = {"landbridge:machine": server}
    one = item("aws:iam/role:Role", REGION, name="r", tags=tags, assumeRolePolicy=json.dumps(trust()))
    policy = item("aws:iam/rolePolicy:RolePolicy", REGION, role="r", name="machine", policy=json.dumps(document))
    return list(aws_machines.findings([one, policy], world))


def allowed(world: World) -> Any:
    spec = laptops_spec(world.fleet, world.plan, REGION)
    assert spec is not None
    return permissions(world.fleet, spec, spec.servers[0], KEY)


def test_a_server_s_role_is_taken_as_the_region_writes_it(world: World) -> None:
    assert role(world, allowed(world)) == []


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("secretsmanager:GetSecretValue", f"{SECRET}/authority-??????"),
        ("secretsmanager:GetSecretValue", f"{SECRET}/vpn-2-??????"),
        ("s3:GetObject", f"{BUCKET}/laptops/issued.json"),
        ("s3:GetObject", f"{BUCKET}/example/laptops/vpn-2/*"),
        ("s3:PutObject", f"{BUCKET}/laptops/revoked.pem"),
        ("s3:GetObject", f"{BUCKET}/laptops/*"),
        ("kms:Decrypt", "*"),
    ],
)
def test_it_goes_no_further(world: World, action: str, resource: str) -> None:
    wider = copy.deepcopy(allowed(world))
    wider["Statement"].append({"Effect": "Allow", "Action": action, "Resource": resource})
    (found,) = role(world, wider)
    assert found.what == f"us-west-2-vpn-1 may {action} of {resource}"


def test_a_region_without_servers_has_no_such_machine(world: World) -> None:
    for server in ("us-east-1-vpn-1", "us-west-2-vpn-3"):
        assert any("its tag names no machine" in found.what for found in role(world, allowed(world), server))


def test_the_port_is_open_where_servers_are_and_nowhere_else(world: World) -> None:
    rule = {"ipProtocol": "udp", "fromPort": 1194, "toPort": 1194, "cidrIpv4": "0.0.0.0/0"}
    kind = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    assert list(aws_exposure.findings([item(kind, STACK, **rule)], world)) == []
    for stack in (REGION, "us-east-1-laptops", "main", "links"):
        assert [found.path for found in aws_exposure.findings([item(kind, stack, **rule)], world)] == ["cidrIpv4"]


def test_laptops_addresses_are_their_own_region_s(world: World) -> None:
    route = {"destinationCidrBlock": world.plan.region(REGION).laptops[0], "networkInterfaceId": "eni-1"}
    for interface in ("eni-1", UNKNOWN):
        to = {**route, "networkInterfaceId": interface}
        assert list(aws_addresses.findings([item("aws:ec2/route:Route", STACK, **to)], world)) == []
    for stack in (REGION, "us-east-1-laptops", "main"):
        assert len(list(aws_addresses.findings([item("aws:ec2/route:Route", stack, **route)], world))) == 1


@pytest.mark.parametrize("ssh", ["keys", "certificates"])
def test_a_server_reads_the_list_of_people_s_certificates_where_these_let_people_in(world: World, ssh: str) -> None:
    fleet = world.fleet.model_copy(update={"access": "ssh", "ssh": "certificates"})
    spec = laptops_spec(fleet, world.plan, REGION)
    assert spec is not None
    assert spec.logins
    document = permissions(fleet, spec, spec.servers[0], KEY)
    assert f"{BUCKET}/ssh/revoked" in [one["Resource"] for one in document["Statement"]]
    judged = replace(world, fleet=fleet.model_copy(update={"ssh": ssh}))
    assert bool(role(judged, document)) == (ssh == "keys")
    next(one for one in document["Statement"] if one["Sid"] == "PeopleRevoked")["Resource"] = f"{BUCKET}/ssh/*"
    assert role(judged, document)
