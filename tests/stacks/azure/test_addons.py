"""What the stack of add-ons registers for clusters with nodes in Azure, at home in AWS or in Azure: no engine, no cloud."""

import asyncio
import json
from typing import Any

import pulumi
import pytest

from components.addons import autoscaler, recorder
from components.addons.azure.pod_role import CLIENT_ID, identity
from components.addons.monitoring import fleet_metrics
from components.network.azure.spec import network_spec
from components.storage.azure import secrets
from fleet import issuers
from fleet.buckets import vault_name
from fleet.world import World
from stacks import addons, catalogue, outputs
from stacks.catalogue import StackSpec
from tests.components.addons import bed

SOUTH, WEST = "southcentralus", "us-west-2"
PAIR = json.dumps({"crt": "a certificate", "key": "a key"})
SECRET = "4dabf18193072939515e22adb298388d"


class Clouds(pulumi.runtime.Mocks):
    """Stacks below that are up, and what clouds would say."""

    def __init__(self, fleet: World) -> None:
        self.world = fleet
        self.made = dict[str, dict[str, dict[str, Any]]]()
        self.asked = list[str]()

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ == "pulumi:pulumi:StackReference":
            return args.name, {**args.inputs, "outputs": self.published(args.name.rpartition("/")[2])}
        self.made.setdefault(args.typ, {})[args.name] = args.inputs
        known = {"name": args.inputs.get("resourceName"), "clientId": "the-client", "principalId": "the-principal"}
        return f"{args.typ} {args.name}", {**args.inputs, **known}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        self.asked.append(args.token)
        if args.token == "azure-native:authorization:getClientToken":
            assert args.args == {"endpoint": "https://vault.azure.net"}
            return {"token": "the-token"}
        if args.token == "aws:secretsmanager/getSecretVersion:getSecretVersion":
            return {**args.args, "secretString": PAIR, "id": "i", "arn": "a", "createdDate": "d", "secretBinary": ""}
        if args.token == "azure-native:compute:getVirtualMachine":
            return {}
        assert args.token == "aws:ec2/getInstances:getInstances"
        return {"privateIps": [], "ids": [], "id": "i"}

    def published(self, stack: str) -> dict[str, Any]:
        fleet = self.world.fleet
        if stack in fleet.regions:
            names = {name: f"ap-{name}" for name in (*fleet.storage.shares, *fleet.people)}
            told = {name: {} for name in outputs.RegionOutputs.__annotations__}
            return {**told, "shares_id": "fs", "share_ids": names, "home_ids": names}
        told = {name: name for name in outputs.ClusterOutputs.__annotations__}
        return (
            {**told, "endpoint": "https://api", "admin_secret": f"both--{stack}--admin"}
            if stack in fleet.clusters
            else {}
        )

    def of(self, kind: str) -> dict[str, dict[str, Any]]:
        return self.made.get(kind, {})


def run(fleet: World, cluster: str) -> Clouds:
    clouds = Clouds(fleet)
    outputs._reference.cache_clear()
    asyncio.set_event_loop(asyncio.new_event_loop())
    pulumi.runtime.set_mocks(clouds, project="landbridge", stack=f"{cluster}-addons")
    spec = StackSpec(f"{cluster}-addons", "addons", fleet.fleet.clusters[cluster].region)

    @pulumi.runtime.test
    def program() -> Any:
        return pulumi.Output.from_input(addons.build(fleet, spec))

    program()
    outputs._reference.cache_clear()
    return clouds


@pytest.fixture(scope="module")
def world() -> World:
    return bed.both()


@pytest.fixture(scope="module")
def main(world: World) -> Clouds:
    return run(world, "main")


@pytest.fixture(scope="module")
def reads() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture(scope="module")
def south(world: World, reads: list[tuple[str, str, str]]) -> Clouds:
    def newest(*asked: str) -> str:
        reads.append(asked[:3])  # type: ignore[arg-type]
        return PAIR

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "newest", newest)
        return run(world, "south")


def test_the_way_in_comes_from_the_home_s_own_store(
    world: World,
    main: Clouds,
    south: Clouds,
    reads: list[tuple[str, str, str]],
) -> None:
    assert reads == [(vault_name(world.fleet, SOUTH), "both--south--admin", "the-token")]
    assert "aws:secretsmanager/getSecretVersion:getSecretVersion" not in south.asked
    assert "azure-native:authorization:getClientToken" not in main.asked
    for clouds, name in ((main, "main"), (south, "south")):
        told = clouds.of("pulumi:providers:kubernetes")[name]["kubeconfig"]
        assert told[SECRET], "a credential is no plain text in any state"


def test_the_autoscaler_has_a_role_and_an_identity_and_its_pod_the_identity_s_number(
    main: Clouds, south: Clouds
) -> None:
    for clouds in (main, south):
        assert "autoscaler" in clouds.of("aws:iam/role:Role")
        assert "autoscaler" in clouds.of("azure-native:managedidentity:UserAssignedIdentity")
        about = clouds.of("kubernetes:core/v1:ConfigMap")[identity(autoscaler.ADDON)]
        assert about["data"] == {CLIENT_ID: "the-client"}
        assert about["metadata"]["namespace"] == "kube-system"


def test_the_recorder_writes_in_the_home_s_cloud_alone_and_looks_where_machines_are(
    main: Clouds, south: Clouds
) -> None:
    for clouds, in_azure in ((main, False), (south, True)):
        assert "recorder" in clouds.of("aws:iam/role:Role"), "machines of both are in AWS, too"
        may = clouds.of("aws:iam/rolePolicy:RolePolicy")["recorder"]["policy"]
        assert "ec2:DescribeInstances" in may
        assert ("s3:PutObject" in may) != in_azure
        assert "recorder" in clouds.of("azure-native:managedidentity:UserAssignedIdentity")
        rights = clouds.of("azure-native:authorization:RoleAssignment")
        assert "recorder-looks" in rights
        assert (f"recorder-{SOUTH}" in rights) == in_azure
        assert identity(recorder.ADDON) in clouds.of("kubernetes:core/v1:ConfigMap")
    assert south.of("kubernetes:core/v1:ConfigMap")[identity(recorder.ADDON)]["data"] == {CLIENT_ID: "the-client"}


def test_fleet_metrics_are_asked_of_both_clouds_and_by_nobody_without_monitoring(
    world: World, main: Clouds, south: Clouds
) -> None:
    for clouds in (main, south):
        assert "fleet-metrics" not in clouds.of("aws:iam/role:Role")
        assert "fleet-metrics" not in clouds.of("azure-native:managedidentity:UserAssignedIdentity")
    measured = World(bed.measured(world.fleet), world.plan, world.path)
    found = run(measured, "main")
    may = found.of("aws:iam/rolePolicy:RolePolicy")["fleet-metrics"]["policy"]
    assert "s3:ListBucket" in may
    assert "s3:GetObject" not in may
    assert f"links-{SOUTH}" in found.of("azure-native:authorization:RoleAssignment")
    assert found.of("kubernetes:core/v1:ConfigMap")[identity(fleet_metrics.ADDON)]["data"] == {CLIENT_ID: "the-client"}


def test_who_is_at_home_in_azure_has_aws_trust_its_issuer(world: World, main: Clouds, south: Clouds) -> None:
    kind = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
    assert main.of(kind) == {}, "its own stack does it"
    assert south.of(kind)["issuer"]["url"] == issuers.url(world.fleet, "south")
    assert [*south.of("pulumi:providers:aws")] == ["eu-west-1"], "roles are of no region, and its home has none"
    assert [*main.of("pulumi:providers:aws")] == [WEST]


def test_shares_of_every_region_with_nodes_are_there(world: World, main: Clouds, south: Clouds) -> None:
    address = network_spec(world.fleet, world.plan, SOUTH).shares_address
    volumes = {name.rpartition("/")[2] for name in main.of("kubernetes:core/v1:PersistentVolume")}
    assert {f"main.team-research.data-{region}" for region in (WEST, "eu-west-1", SOUTH)} <= volumes
    data = south.of("kubernetes:core/v1:PersistentVolume")["PersistentVolume/south.team-research.data"]
    assert data["spec"]["csi"]["volumeAttributes"]["server"] == address


def test_it_comes_after_the_pools_whose_scale_sets_it_gives_rights_to(world: World) -> None:
    found = {stack.name: stack.depends_on for stack in catalogue.addons(world.fleet)}
    assert found == {
        "main-addons": (WEST, "eu-west-1", SOUTH, "main", "south-cpu", "south-gpu"),
        "south-addons": (SOUTH, WEST, "south", "own-cpu", "own-gpu", "own-system"),
    }
