"""A cluster as a whole: what is judged of several resources at a time, each case a sound cluster with one thing changed."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from fleet.model import Ingress
from fleet.world import World

from .judging import UNKNOWN_TEXT, example, findings

TAGS = {"landbridge:fleet": "example", "landbridge:owner": "platform"}
VOLUME, GROUP, INTERFACE = (
    "aws:ebs/volume:Volume",
    "aws:autoscaling/group:Group",
    "aws:ec2/networkInterface:NetworkInterface",
)
ROLE, POLICY = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
BUCKET = "arn:aws:s3:::example-us-west-2-123456789012"
# Of cluster main alone: `other` stands in no fleet file.
COPIES = "arn:aws:s3:::example-us-east-1-123456789012/copies/us-west-2/main"
Resource = dict[str, Any]


def may(action: Any, resource: Any, **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def member(number: int, cluster: str = "main", *also: dict[str, Any]) -> list[Resource]:
    """One etcd member's resources; `also` are further statements of its role."""
    name, zone = f"{cluster}-etcd-{number}", f"us-west-2{'abc'[number % 3]}"
    tags = {**TAGS, "landbridge:machine": name}
    listed = [{"key": key, "value": value, "propagateAtLaunch": True} for key, value in tags.items()]
    here = {"availabilityZone": zone, "encrypted": True}
    trust = {
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}]
    }
    statements = [
        may(["s3:GetObject"], f"{BUCKET}/example/{cluster}/{name}/*"),
        may("s3:PutObject", [f"{BUCKET}/backups/{cluster}/*"]),
        *([may(["s3:PutObject"], f"{COPIES}/*")] if cluster == "main" else []),
        *also,
    ]
    return [
        *(
            resource(VOLUME, f"{name}-{d}", {**here, "tags": {**tags, "landbridge:disk": f"etcd-{d}"}})
            for d in ("main", "events")
        ),
        resource(GROUP, name, {"availabilityZones": [zone], "minSize": 1, "maxSize": 1, "tags": listed}),
        resource(INTERFACE, name, {"tags": dict(tags)}),
        resource(ROLE, name, {"name": f"example-{name}", "assumeRolePolicy": json.dumps(trust), "tags": dict(tags)}),
        resource(POLICY, name, {"role": f"example-{name}", "policy": json.dumps({"Statement": statements})}),
    ]


def resource(type_: str, name: str, props: dict[str, Any]) -> Resource:
    return {"type": type_, "name": name, "protect": True, "props": props}


def cluster(members: int = 3, name: str = "main") -> list[Resource]:
    return [made for number in range(1, members + 1) for made in member(number, name)]


@pytest.fixture(scope="module")
def world() -> World:
    return example()


def told(resources: Iterable[Resource], world: World) -> list[str]:
    return [found.what for found in findings(list(resources), world)]


@pytest.mark.parametrize("members", [3, 5])
def test_three_and_five_members_are_sound(members: int, world: World) -> None:
    assert told(cluster(members), world) == []


@pytest.mark.parametrize("members", [1, 2, 4, 6, 7])
def test_other_numbers_are_refused(members: int, world: World) -> None:
    assert told(cluster(members), world) == [f"cluster main has {members} etcd members"]


def test_each_cluster_is_counted_by_itself(world: World) -> None:
    assert told([*cluster(3), *cluster(3, "other")], world) == []
    assert told([*cluster(3), *cluster(1, "other")], world) == ["cluster other has 1 etcd members"]


@pytest.mark.parametrize(
    ("type_", "name", "part"),
    [
        (VOLUME, "main-etcd-2-main", "volume etcd-main"),
        (VOLUME, "main-etcd-2-events", "volume etcd-events"),
        (GROUP, "main-etcd-2", "scaling group"),
        (INTERFACE, "main-etcd-2", "network interface"),
    ],
)
def test_a_member_without_a_part_is_refused(type_: str, name: str, part: str, world: World) -> None:
    rest = [made for made in cluster() if (made["type"], made["name"]) != (type_, name)]
    assert set(told(rest, world)) == {f"etcd member main-etcd-2 lacks its own {part}"}


def test_a_part_that_a_member_has_twice_is_refused(world: World) -> None:
    second = resource(INTERFACE, "second", {"tags": {**TAGS, "landbridge:machine": "main-etcd-2"}})
    assert told([*cluster(), second], world) == ["main-etcd-2 has a network interface already: main-etcd-2"]


def changed(
    resources: list[Resource], name: str, change: Callable[[Resource], object], type_: str = VOLUME
) -> list[Resource]:
    for made in resources:
        if (made["type"], made["name"]) == (type_, name):
            change(made["props"])
    return resources


def test_a_volume_without_a_known_disk_is_refused(world: World) -> None:
    other = changed(cluster(), "main-etcd-1-main", lambda props: props["tags"].update({"landbridge:disk": "root"}))
    assert "the volume of main-etcd-1 has the tag landbridge:disk root" in told(other, world)


def test_members_in_two_regions_are_refused_even_of_a_cluster_that_the_fleet_does_not_know(world: World) -> None:
    for name in ("main", "other"):
        away = changed(
            cluster(3, name), f"{name}-etcd-2-main", lambda props: props.update(availabilityZone="eu-west-1a")
        )
        what = f"etcd member {name}-etcd-2 stands in eu-west-1a, and its cluster in us-west-2"
        assert told(away, world) == [what]


def test_snapshots_that_a_member_may_not_write_are_refused(world: World) -> None:
    none = json.dumps({"Statement": [may("s3:PutObject", f"{BUCKET}/backups/main/*", Effect="Deny")]})
    off = changed(cluster(), "main-etcd-3", lambda props: props.update(policy=none), POLICY)
    both = ("snapshots", "copies of snapshots")
    assert told(off, world) == [f"{what} are off: main-etcd-3 may write none" for what in both]
    lost = [made for made in cluster() if made["type"] not in (ROLE, POLICY)]
    assert told(lost, world) == [f"{what} are off: main-etcd-{n} may write none" for n in (1, 2, 3) for what in both]


def test_copies_are_asked_for_only_where_the_fleet_wants_them(world: World) -> None:
    home = json.dumps({"Statement": [may("s3:PutObject", f"{BUCKET}/backups/main/*")]})
    off = changed(cluster(), "main-etcd-3", lambda props: props.update(policy=home), POLICY)
    assert told(off, world) == ["copies of snapshots are off: main-etcd-3 may write none"]
    alone = world.fleet.clusters["main"].model_copy(update={"copies": None})
    without = World(world.fleet.model_copy(update={"clusters": {"main": alone}}), world.plan, world.path)
    only_home = [made for made in off if made["type"] != POLICY]
    roles = [{"role": f"example-main-etcd-{n}", "policy": home} for n in (1, 2, 3)]
    only_home += [resource(POLICY, props["role"].removeprefix("example-"), props) for props in roles]
    assert told(only_home, without) == []
    assert told(cluster(), without) == [f"main-etcd-{n} may s3:PutObject of {COPIES}/*" for n in (1, 2, 3)], (
        "and nobody writes where none are to be"
    )


def test_snapshots_under_a_policy_that_is_not_known_are_undecidable(world: World) -> None:
    hidden = changed(cluster(), "main-etcd-3", lambda props: props.update(policy=UNKNOWN_TEXT), POLICY)
    assert all(what.startswith("undecidable: ") for what in told(hidden, world))
    assert len(told(hidden, world)) == 2


SECRETS = "arn:aws:secretsmanager:us-west-2:123456789012:secret:example/main"
KEY = "arn:aws:kms:us-west-2:123456789012:key/0a1b"
COPIES_KEY = "arn:aws:kms:us-east-1:123456789012:key/2c3d"
TAGGED = {"Condition": {"StringEquals": {"aws:ResourceTag/landbridge:machine": "main-etcd-1"}}}
ANY_VOLUME = "arn:aws:ec2:us-west-2:123456789012:volume/*"


def via(*services: str) -> dict[str, Any]:
    return {"Condition": {"StringEquals": {"kms:ViaService": list(services)}}}


def listed(prefix: str | list[str]) -> dict[str, Any]:
    return {"Condition": {"StringLike": {"s3:prefix": prefix}}}


@pytest.mark.parametrize(
    "statement",
    [
        may("secretsmanager:GetSecretValue", f"{SECRETS}/main-etcd-1-??????"),
        may("secretsmanager:GetSecretValue", f"{SECRETS}/main-etcd-1-aB3xYz"),
        may("s3:getobject", f"{BUCKET}/backups/main/*"),
        may("s3:AbortMultipartUpload", f"{BUCKET}/backups/main/*"),
        may("s3:ListBucket", BUCKET, **listed("backups/main/*")),
        may("s3:AbortMultipartUpload", f"{COPIES}/*"),
        may("kms:Decrypt", KEY),
        may(["kms:Decrypt", "kms:GenerateDataKey"], COPIES_KEY, **via("s3.us-east-1.amazonaws.com")),
        may("kms:CreateGrant", KEY, Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}}),
        may("ec2:DescribeVolumes", "*"),
        may("ec2:AttachVolume", ["arn:aws:ec2:us-west-2:123456789012:instance/*", ANY_VOLUME], **TAGGED),
        may("ssm:UpdateInstanceInformation", "*"),
        {"Effect": "Deny", "NotAction": "*", "Resource": "*"},
    ],
)
def test_what_a_machine_needs_is_accepted(statement: dict[str, Any], world: World) -> None:
    assert told([*member(1, "main", statement), *member(2), *member(3)], world) == []


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (may("secretsmanager:GetSecretValue", f"{SECRETS}/*"), f"secretsmanager:GetSecretValue of {SECRETS}/*"),
        (may("secretsmanager:GetSecretValue", "*"), "secretsmanager:GetSecretValue of *"),
        (may("secretsmanager:GetSecretValue", f"{SECRETS}/main-etcd-1*"), "secretsmanager:GetSecretValue of"),
        (may("secretsmanager:GetSecretValue", f"{SECRETS}/main-etcd-2-??????"), "secretsmanager:GetSecretValue of"),
        (may("secretsmanager:GetSecretValue", f"{SECRETS}/main-etcd-1-other-*"), "secretsmanager:GetSecretValue of"),
        (may("secretsmanager:*", f"{SECRETS}/main-etcd-1-*"), "secretsmanager:*, which no machine needs"),
        (may("s3:GetObject", f"{BUCKET}/*"), f"s3:GetObject of {BUCKET}/*"),
        (may("S3:GetObject", f"{BUCKET}/example/main/*"), "S3:GetObject of"),
        (may("s3:GetObject", f"{BUCKET}/example/main/main-etcd-1*"), "s3:GetObject of"),
        (may("s3:GetObject", f"{BUCKET}/example/main/${{aws:userid}}/*"), "s3:GetObject of"),
        (may("s3:GetObject", "arn:aws:s3:::*/example/main/main-etcd-1/*"), "s3:GetObject of"),
        (may("s3:PutObject", f"{BUCKET}/audit/main/*"), "s3:PutObject of"),
        (may("s3:PutObject", f"{BUCKET}/backups/other/*"), "s3:PutObject of"),
        (may("s3:PutObject", f"{BUCKET}/example/main/main-etcd-1/*"), "s3:PutObject of"),
        (may(["s3:Get*"], f"{BUCKET}/example/main/main-etcd-1/*"), "s3:Get*, which no machine needs"),
        (may("s3:DeleteObject", f"{BUCKET}/backups/main/*"), "s3:DeleteObject, which no machine needs"),
        (may("s3:AbortMultipartUpload", f"{BUCKET}/backups/other/*"), "s3:AbortMultipartUpload of"),
        (may("s3:ListBucket", BUCKET), "s3:ListBucket of"),
        (may("s3:ListBucket", BUCKET, **listed("backups/*")), "s3:ListBucket of"),
        (may("s3:ListBucket", BUCKET, **listed("backups/other/*")), "s3:ListBucket of"),
        (may("s3:ListBucket", BUCKET, **listed(["backups/main/*", "*"])), "s3:ListBucket of"),
        (may("s3:ListBucket", "*", **listed("backups/main/*")), "s3:ListBucket of *"),
        (may("*", "*"), "*, which no machine needs"),
        (may("kms:Decrypt", "*"), "kms:Decrypt of *"),
        (may("kms:Decrypt", "arn:aws:kms:us-west-2:123456789012:key/*"), "kms:Decrypt of"),
        (may("kms:CreateGrant", KEY), "kms:CreateGrant of"),
        (
            may("kms:CreateGrant", "*", Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}}),
            "kms:CreateGrant of *",
        ),
        (may("s3:PutObject", f"{COPIES.rpartition('/')[0]}/*"), "s3:PutObject of"),
        (may("s3:PutObject", f"{COPIES.replace('/main', '/other')}/*"), "s3:PutObject of"),
        (may("s3:PutObject", f"{BUCKET}/copies/us-west-2/main/*"), "s3:PutObject of"),
        (may("s3:PutObject", f"{COPIES.replace('us-east-1', 'eu-west-1')}/*"), "s3:PutObject of"),
        (may("s3:GetObject", f"{COPIES}/*"), "s3:GetObject of"),
        (may("s3:DeleteObject", f"{COPIES}/*"), "s3:DeleteObject, which no machine needs"),
        (may("s3:ListBucket", COPIES.partition("/")[0], **listed("copies/us-west-2/main/*")), "s3:ListBucket of"),
        (may("kms:Decrypt", COPIES_KEY), "kms:Decrypt of"),
        (may("kms:Decrypt", COPIES_KEY, **via("secretsmanager.us-east-1.amazonaws.com")), "kms:Decrypt of"),
        (may("kms:Decrypt", COPIES_KEY, **via("s3.us-west-2.amazonaws.com")), "kms:Decrypt of"),
        (may("kms:DescribeKey", COPIES_KEY, **via("s3.us-east-1.amazonaws.com")), "kms:DescribeKey of"),
        (may("kms:Decrypt", KEY.replace("us-west-2", "eu-west-1")), "kms:Decrypt of"),
        (may("iam:PassRole", "*"), "iam:PassRole, which no machine needs"),
        (may("sts:AssumeRole", "*"), "sts:AssumeRole, which no machine needs"),
        (may("ec2:*", "*"), "ec2:*, which no machine needs"),
        (may("ec2:AttachVolume", ANY_VOLUME), "ec2:AttachVolume of"),
        (may("ec2:AttachVolume", "*"), "ec2:AttachVolume of *"),
        ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "do all but what a statement names"),
        ({"Effect": "Allow", "Action": "s3:GetObject", "NotResource": "x"}, "do all but what a statement names"),
    ],
)
def test_what_goes_beyond_a_machine_is_refused(statement: dict[str, Any], what: str, world: World) -> None:
    found = told([*member(1, "main", statement), *member(2), *member(3)], world)
    assert len(found) == 1
    assert found[0].startswith(f"main-etcd-1 may {what}")


def test_a_machine_s_role_has_no_policies_of_elsewhere(world: World) -> None:
    arn = "arn:aws:iam::aws:policy/AdministratorAccess"
    attached = resource(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "x", {"role": "example-main-etcd-1", "policyArn": arn}
    )
    assert told([*cluster(), attached], world) == [f"the role of main-etcd-1 has the policy {arn}"]
    held = changed(cluster(), "main-etcd-1", lambda props: props.update(managedPolicyArns=[arn]), ROLE)
    assert told(held, world) == [f"the role of main-etcd-1 has the policy {arn}"]


def test_inline_policies_of_the_role_itself_are_judged_too(world: World) -> None:
    wide = json.dumps({"Statement": [may("s3:GetObject", "*")]})
    held = changed(cluster(), "main-etcd-1", lambda props: props.update(inlinePolicies=[{"policy": wide}]), ROLE)
    assert told(held, world) == ["main-etcd-1 may s3:GetObject of *"]


def test_a_machine_s_role_must_say_whose_it_is(world: World) -> None:
    nameless = changed(cluster(), "main-etcd-1", lambda props: props["tags"].pop("landbridge:machine"), ROLE)
    assert told(nameless, world) == [
        "EC2 may take the role, and its tag names no machine (None) and no pool (None)",
        "snapshots are off: main-etcd-1 may write none",
        "copies of snapshots are off: main-etcd-1 may write none",
    ]


def test_a_public_api_needs_an_allow_list_and_security_groups(world: World) -> None:
    partner = Ingress(port=6443, protocol="tcp", cidr="203.0.113.0/24", why="a partner")
    everybody = partner.model_copy(update={"cidr": "0.0.0.0/0"})

    def judged(ingress: Ingress, **props: Any) -> list[str]:
        open_ = World(world.fleet.model_copy(update={"ingress": [ingress]}), world.plan, world.path)
        return told([resource("aws:lb/loadBalancer:LoadBalancer", "api", {"tags": TAGS, **props})], open_)

    assert judged(partner, internal=False, securityGroups=["sg-1"]) == []
    assert judged(partner, internal=False) == ["the balancer is open to the internet with no security groups"]
    assert judged(everybody, internal=False, securityGroups=["sg-1"]) == [
        "the balancer is open to the internet with no allow-list"
    ]
