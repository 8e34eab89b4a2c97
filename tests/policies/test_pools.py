"""What is let pass for machines of pools that people log in to."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from components.control_plane.aws.roles import trust
from components.pools.aws import hooks
from components.pools.aws.roles import permissions
from components.pools.spec import pool_spec
from fleet.model import Pool
from fleet.world import World
from policies import pool_settings
from policies.aws import images as aws_images
from policies.aws import machines as aws_machines
from policies.reading import Finding, Item

from .judging import example

POOL, REGION, ACCOUNT = "shell", "us-west-2", "123456789012"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-0000-0000-000000000001"
SECRETS = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:example"


@pytest.fixture(scope="module")
def world() -> World:
    found = example()
    shell = Pool(kind="ssh", cluster="main", region=REGION, owner="research", instance_type="g5.xlarge", gpus=1, max=2)
    pools = {**found.fleet.pools, POOL: shell}
    return replace(found, fleet=found.fleet.model_copy(update={"ssh": "certificates", "pools": pools}))


def allowed(world: World) -> Any:
    return permissions(world.fleet, pool_spec(world.fleet, world.plan, POOL), KEY)


def role(world: World, document: Any) -> list[Finding]:
    tags = {"landbridge:pool": POOL}
    one = {"name": "r", "tags": tags, "assumeRolePolicy": json.dumps(trust())}
    policy = {"role": "r", "name": "node", "policy": json.dumps(document)}
    kinds = (("aws:iam/role:Role", one), ("aws:iam/rolePolicy:RolePolicy", policy))
    return list(aws_machines.findings([Item(kind, "r", "urn:r", props, False, "p") for kind, props in kinds], world))


def test_a_pool_reads_the_key_of_what_it_shows_where_certificates_let_people_in(world: World) -> None:
    assert role(world, allowed(world)) == []
    keys = replace(world, fleet=world.fleet.model_copy(update={"ssh": "keys"}))
    assert {found.what.split()[3] for found in role(keys, allowed(world))} == {
        "secretsmanager:GetSecretValue",
        "s3:GetObject",
    }
    assert role(keys, allowed(keys)) == []


@pytest.mark.parametrize(
    "name", ["main/west-gpu-??????", "main/shell*", "main/main-etcd-1-??????", "ssh/authority-??????"]
)
def test_it_reads_no_other_secret(world: World, name: str) -> None:
    wider = copy.deepcopy(allowed(world))
    next(one for one in wider["Statement"] if one["Sid"] == "Keys")["Resource"] = f"{SECRETS}/{name}"
    (found,) = role(world, wider)
    assert found.what == f"pool {POOL} may secretsmanager:GetSecretValue of {SECRETS}/{name}"


def test_a_pool_starts_from_its_own_channel_and_no_other(world: World) -> None:
    def judged(pool: str, channel: str) -> list[str]:
        told = tried.fleet.pools[pool]
        image = f"resolve:ssm:/example/images/{'gpu' if told.gpus else 'cpu'}/1.36.2/{channel}"
        props = {"tags": {"landbridge:pool": pool}, "imageId": image, "instanceType": told.instance_type}
        kind = "aws:ec2/launchTemplate:LaunchTemplate"
        return [found.what for found in aws_images.findings([Item(kind, "t", "urn:t", props, False, "p")], tried)]

    update = {"west-gpu": world.fleet.pools["west-gpu"].model_copy(update={"channel": "candidate"})}
    tried = replace(world, fleet=world.fleet.model_copy(update={"pools": {**world.fleet.pools, **update}}))
    assert judged("west-gpu", "candidate") == judged("cpu", "stable") == []
    assert judged("west-gpu", "stable") == ["the image of pool west-gpu is of channel stable, and not candidate"]
    assert judged("cpu", "candidate") == ["the image of pool cpu is of channel candidate, and not stable"]
    assert judged("west-gpu", "retired") == ["the image of pool west-gpu is of channel retired, and not candidate"]


def test_pods_may_be_given_as_long_as_their_machine_waits() -> None:
    assert pool_settings.LONGEST_SECONDS == hooks.SECONDS
