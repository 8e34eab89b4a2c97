"""What the programs for Azure register, as a first preview sees it, passes every policy."""

import asyncio
import copy
import functools
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_azure_native as azure_native
import pulumi_random as random
import pulumi_tls as tls
import pytest
from pulumi.runtime import rpc

from components.addons.azure.addons import AutoscalerIdentity, RecorderIdentity, TeamIdentities
from components.addons.azure.joining_identity import JoiningIdentity
from components.control_plane.azure.control_plane import ControlPlane
from components.control_plane.machines import cluster_spec
from components.control_plane.rotation import all_generations
from components.links.laptops.azure.laptops import Laptops
from components.links.laptops.nodes import owner
from components.links.laptops.spec import laptops_spec
from components.pools.azure.pool import Pool
from components.pools.firewall import rules
from components.pools.spec import pool_spec
from components.tags import Owner
from fleet import laptops
from fleet.azure import images
from fleet.world import World
from policies import pack
from policies.azure.pools import SCALE_SET
from policies.azure.roles import ASSIGNMENT, DEFINITION
from policies.reading import UNKNOWN, Item
from stacks.catalogue import StackSpec
from stacks.region import azure as region_azure

from ..judging import AZURE, AZURE_STACK, azure

# What only an update makes: a preview does not know it.
KEYS = ("privateKeyPem", "publicKeyPem", "publicKeyOpenssh", "certPem", "certRequestPem")
MADE: dict[str, dict[str, Any]] = {
    "tls": dict.fromkeys(KEYS, rpc.UNKNOWN),
    "random": {"hex": rpc.UNKNOWN, "base64": rpc.UNKNOWN},
    "azure-native:keyvault:Secret": {"properties": {"secretUriWithVersion": rpc.UNKNOWN}},
}


class Registering(pulumi.runtime.Mocks):
    """Notes what is registered; what the cloud would say is not known."""

    def __init__(self, stack: str) -> None:
        self.stack, self.items = stack, list[Item]()

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ.startswith(AZURE):
            urn = f"urn:pulumi:{self.stack}::landbridge::{args.typ}::{args.name}"
            provider = args.provider.split("::")[-2]
            self.items.append(Item(args.typ, args.name, urn, plain(args.inputs), protect=True, provider=provider))
        # Azure's answer has identities as a table, and a program gives a list.
        told = {name: value for name, value in args.inputs.items() if name != "identity"}
        return "", {**told, **MADE.get(args.typ.partition(":")[0], {}), **MADE.get(args.typ, {})}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        assert args.token == "azure-native:authorization:getClientConfig"
        return {
            "objectId": "00000000-0000-0000-0000-00000000000c",
            "clientId": "",
            "subscriptionId": "",
            "tenantId": "",
        }


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, pulumi.output.Unknown):
        return UNKNOWN
    return int(value) if isinstance(value, float) and value.is_integer() else value


def registered(build: Callable[[World], Any], stack: str = AZURE_STACK, world: World | None = None) -> list[Item]:
    mocks = Registering(stack)
    # Pulumi takes the thread's own, which an `asyncio.run` of another test has taken away.
    asyncio.set_event_loop(asyncio.new_event_loop())
    pulumi.runtime.set_mocks(mocks, project="landbridge", stack=stack, preview=True)

    @pulumi.runtime.test
    def program() -> None:
        build(world or azure())

    program()
    return mocks.items


def certified() -> World:
    """Where certificates let people in, to operators' machines, too."""
    known = azure()
    return World(known.fleet.model_copy(update={"access": "ssh", "ssh": "certificates"}), known.plan, known.path)


def judged(items: list[Item], world: World | None = None) -> dict[str, list[str]]:
    told = {
        name: [f"{one.type} {one.name}: {one.what}" for judge in judges for one in judge(items, world or azure())]
        for name, (_, judges) in pack.RULES.items()
    }
    return {name: lines for name, lines in told.items() if lines}


@pytest.fixture(scope="module")
def region() -> list[Item]:
    spec = StackSpec(AZURE_STACK, "region", AZURE_STACK, ())
    return registered(lambda world: region_azure.build(world, spec))


def test_a_region_s_stack_passes(region: list[Item]) -> None:
    assert len(region) > 40
    assert judged(region) == {}


@pytest.mark.parametrize(
    ("type_", "change", "words"),
    [
        ("network:VirtualNetworkGateway", {"sku": {"name": "VpnGw2"}}, 'sku.name is "VpnGw2"'),
        ("storage:StorageAccount", {"allowBlobPublicAccess": True}, "allowBlobPublicAccess is True"),
        ("storage:StorageAccount", {"publicNetworkAccess": "Enabled"}, "enableHttpsTrafficOnly is false"),
        ("network:FlowLog", {"enabled": False}, "enabled is false"),
        ("network:NetworkSecurityGroup", {"securityRules": []}, "it ends in no rule"),
        ("resources:ResourceGroup", {"tags": {}}, "tag landbridge:fleet is missing"),
        ("authorization:RoleAssignment", {"principalType": "ServicePrincipal"}, "Key Vault Secrets Officer opens all"),
        ("keyvault:Vault", {"properties": {}}, "properties.enableRbacAuthorization is left out"),
    ],
)
def test_and_does_not_once_it_is_changed(region: list[Item], type_: str, change: dict[str, Any], words: str) -> None:
    wrong = [one._replace(props={**one.props, **change}) if one.type == AZURE + type_ else one for one in region]
    assert any(words in line for lines in judged(wrong).values() for line in lines)


def test_identities_of_teams_pass_and_none_opens_another_s_folder() -> None:
    def build(world: World) -> TeamIdentities:
        provider = azure_native.Provider("p", subscription_id="s", tenant_id="t")
        opts = pulumi.ResourceOptions(providers={"azure-native": provider})
        return TeamIdentities("teams", {"fleet": world.fleet, "cluster": "main"}, opts)

    items = registered(build)
    assert [one for one in items if one.type == ASSIGNMENT]
    assert judged(items) == {}
    bare = [one._replace(props={**one.props, "condition": ""}) if one.type == ASSIGNMENT else one for one in items]
    assert any("opens all that lies in" in line for lines in judged(bare).values() for line in lines)


def test_the_autoscaler_s_identity_passes_and_no_other_role_is_over_the_subscription() -> None:
    def build(world: World) -> AutoscalerIdentity:
        provider = azure_native.Provider("p", subscription_id="s", tenant_id="t")
        opts = pulumi.ResourceOptions(providers={"azure-native": provider})
        return AutoscalerIdentity("autoscaler", {"fleet": world.fleet, "cluster": "main"}, opts)

    items = registered(build)
    roles = [one for one in items if one.type == ASSIGNMENT]
    assert len(roles) > 4
    assert judged(items) == {}
    # They are registered in an order of their own: the widest has the shortest id.
    subscription = min((one.props["scope"] for one in roles), key=len)
    wide = [one._replace(props={**one.props, "scope": subscription}) for one in roles]
    told = judged([*wide, *(one for one in items if one.type != ASSIGNMENT)])
    # Roles that only look at machines may be as wide as that; those that size may not.
    assert len(told["roles"]) == len([one for one in roles if one.name.startswith("pool-")]) > 2


def recorder(world: World) -> RecorderIdentity:
    provider = azure_native.Provider("p", subscription_id="s", tenant_id="t")
    opts = pulumi.ResourceOptions(providers={"azure-native": provider})
    return RecorderIdentity("recorder", {"fleet": world.fleet, "cluster": "main"}, opts)


def writes(items: list[Item]) -> Item:
    """The one of its rights that is about the bucket."""
    (role,) = (one for one in items if one.type == ASSIGNMENT and one.props.get("condition"))
    return role


def test_the_recorder_s_identity_passes_and_trusts_its_account_alone() -> None:
    items = registered(recorder)
    assert judged(items) == {}
    (looks,) = (one for one in items if one.type == ASSIGNMENT and one != writes(items))
    assert looks.props["scope"].count("/") == 2, "the log is the subscription's"
    told = judged([looks])["roles"]
    assert any("is the whole subscription" in line for line in told), "without a definition that only reads"
    (trust,) = (one for one in items if one.type.endswith(":FederatedIdentityCredential"))
    assert trust.props["subject"] == "system:serviceaccount:kube-system:recorder"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # What it reads of the audit log it would write as well.
        ("records/main/*' OR", "audit/main/*' OR"),
        ("team-records/*/main/*", "team-records/*"),
        ("records/main/*", "records/other/*"),
        ("audit/main/*", "teams/*"),
        ("'records/main/*'", "'*'"),
        (" AND !(ActionMatches", " OR !(ActionMatches"),
        ("blobs/delete'", "blobs/move/action'"),
        ("AND NOT SubOperationMatches{'Blob.List'}", "AND SubOperationMatches{'Blob.List'}"),
        ("StringLike 'team-records", "StringNotLike 'team-records"),
    ],
)
def test_a_recorder_s_condition_goes_no_further(right: str, wrong: str) -> None:
    role = writes(registered(recorder))
    assert right in role.props["condition"]
    wider = role._replace(props={**role.props, "condition": role.props["condition"].replace(right, wrong)})
    (line,) = judged([wider])["roles"]
    assert "the condition is no team's and no recorder's of a cluster at home in" in line


def test_a_recorder_has_no_other_region_s_bucket() -> None:
    role = writes(registered(recorder))
    other = role.props["scope"].replace("/storageAccounts/azurealone", "/storageAccounts/elsewhere")
    assert other != role.props["scope"]
    assert "no recorder's" in judged([role._replace(props={**role.props, "scope": other})])["roles"][0]


def test_the_joining_service_s_identity_passes_and_changes_nothing_anywhere() -> None:
    def build(world: World) -> JoiningIdentity:
        provider = azure_native.Provider("p", subscription_id="s", tenant_id="t")
        opts = pulumi.ResourceOptions(providers={"azure-native": provider})
        return JoiningIdentity("joining", {"fleet": world.fleet, "cluster": "main"}, opts)

    items = registered(build)
    assert judged(items) == {}
    (definition,) = (one for one in items if one.type == DEFINITION)
    (permissions,) = definition.props["permissions"]
    assert all(action.endswith("/read") for action in permissions["actions"])
    (assignment,) = (one for one in items if one.type == ASSIGNMENT)
    assert assignment.props["scope"].endswith("/resourceGroups/azure-alone-southcentralus")
    (trust,) = (one for one in items if one.type.endswith(":FederatedIdentityCredential"))
    assert trust.props["subject"] == "system:serviceaccount:kube-system:landbridge-joining"


def pool(world: World, name: str) -> Pool:
    providers = {
        "azure-native": azure_native.Provider("p", subscription_id="s", tenant_id="t"),
        "tls": tls.Provider("tls"),
    }
    spec = pool_spec(world.fleet, world.plan, name)
    return Pool(
        "pool",
        {
            "fleet": world.fleet,
            "spec": spec,
            "owner": Owner(world.fleet.fleet, spec.owner, spec.name),
            "rules": rules(world.fleet, world.plan, spec),
            "subnet_ids": dict.fromkeys(spec.zones, "/subscriptions/s/subnets/private"),
            "authority": "PEM",
            "image": f"{images.of_pool(world.fleet, name)}/versions/1.2.3",
            "people_authority": "ssh-ed25519 LINE" if world.fleet.ssh == "certificates" else "",
        },
        pulumi.ResourceOptions(providers=providers),
    )


@pytest.fixture(scope="module")
def spot() -> list[Item]:
    return registered(lambda world: pool(world, "spot"))


def test_a_pool_s_stack_passes(spot: list[Item]) -> None:
    assert len([one for one in spot if one.type == SCALE_SET]) == 3
    assert judged(spot) == {}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("overprovision", True, "overprovision of pool spot is true"),
        ("virtualMachineProfile.evictionPolicy", "Deallocate", 'evictionPolicy of pool spot is "Deallocate"'),
        ("virtualMachineProfile.billingProfile", {"maxPrice": 9}, "is 9, above the fleet file's 2.5"),
        ("virtualMachineProfile.osProfile", {"customData": "c2VjcmV0IHBhc3N3b3Jk" * 999}, "customData"),
        ("sku.name", "Standard_D2s_v5", "sku.name of pool spot is Standard_D2s_v5"),
    ],
)
def test_and_does_not_once_its_scale_sets_are_changed(spot: list[Item], path: str, value: Any, words: str) -> None:
    def changed(one: Item) -> Item:
        if one.type != SCALE_SET:
            return one
        props = copy.deepcopy(one.props)
        *way, last = path.split(".")
        functools.reduce(lambda at, name: at[name], way, props)[last] = value
        return one._replace(props=props)

    assert any(words in line for lines in judged([changed(one) for one in spot]).values() for line in lines)


def test_a_network_without_a_flow_log_is_refused(region: list[Item]) -> None:
    told = judged([one for one in region if not one.type.endswith(":FlowLog")])
    assert list(told) == ["exposure"]
    assert "no FlowLog of its stack" in told["exposure"][0]


def test_a_cluster_s_control_plane_passes() -> None:
    def build(world: World) -> ControlPlane:
        providers = {
            "azure-native": azure_native.Provider("p", subscription_id="s", tenant_id="t"),
            "tls": tls.Provider("tls"),
            "random": random.Provider("random"),
        }
        assert world.fleet.azure
        spec = cluster_spec(world.fleet, world.plan, "main")
        image = {"id": f"{images.image_id(world.fleet, spec.kubernetes)}/versions/1.2.3"}
        return ControlPlane(
            "control-plane",
            {
                "fleet": world.fleet,
                "spec": spec,
                "owner": Owner(world.fleet.fleet, world.fleet.owner, "main"),
                "supernet": world.plan.supernet,
                "recovered": None,
                "generations": all_generations({}),
                "subnet_ids": dict.fromkeys("123", "subnet"),
                "image": image,
                "people_authority": "",
            },
            pulumi.ResourceOptions(providers=providers),
        )

    found = registered(build)
    assert sum(one.type == f"{AZURE}compute:VirtualMachine" for one in found) == 5
    assert judged(found) == {}


@pytest.fixture(scope="module")
def servers() -> list[Item]:
    def build(world: World) -> Laptops:
        providers = {
            "azure-native": azure_native.Provider("p", subscription_id="s", tenant_id="t"),
            "tls": tls.Provider("tls"),
            "random": random.Provider("random"),
        }
        spec = laptops_spec(world.fleet, world.plan, AZURE_STACK)
        assert spec is not None
        return Laptops(
            "laptops",
            {
                "fleet": world.fleet,
                "spec": spec,
                "owner": owner(world.fleet, AZURE_STACK),
                "supernet": world.plan.supernet,
                "subnet_ids": dict.fromkeys("123", "subnet"),
                "zone_name": f"{AZURE_STACK}.{world.fleet.domain}",
                "image": {"id": f"{images.image_id(world.fleet, spec.node.kubernetes, 'laptop')}/versions/1.2.3"},
                "cluster_authority": "PEM",
                "people_authority": "",
            },
            pulumi.ResourceOptions(providers=providers),
        )

    return registered(build, laptops.stack(AZURE_STACK))


def test_servers_for_laptops_pass(servers: list[Item]) -> None:
    assert sum(one.type == f"{AZURE}compute:VirtualMachine" for one in servers) == 2
    assert judged(servers) == {}


@pytest.mark.parametrize(
    ("type_", "change", "words"),
    [
        ("authorization:RoleAssignment", {"condition": "", "scope": "/subscriptions/s"}, "lies in no resource group"),
        ("network:NetworkInterface", {"tags": {}}, "gives machines public addresses"),
        ("compute:VirtualMachine", {"identity": {"type": "SystemAssigned"}}, "identity.type"),
    ],
)
def test_and_do_not_once_they_are_changed(servers: list[Item], type_: str, change: dict[str, Any], words: str) -> None:
    wrong = [one._replace(props={**one.props, **change}) if one.type == AZURE + type_ else one for one in servers]
    assert any(words in line for lines in judged(wrong).values() for line in lines)


def test_a_pool_to_log_in_to_passes_with_certificates_and_reads_one_secret() -> None:
    items = registered(lambda world: pool(world, "desk"), world=certified())
    assert judged(items, certified()) == {}
    scopes = [str(one.props["scope"]) for one in items if one.type == ASSIGNMENT]
    assert sorted("/secrets/azure-alone--main--desk--" in scope for scope in scopes) == [False, True]
    plain = registered(lambda world: pool(world, "desk"))
    assert not [one for one in plain if one.type.endswith(":Secret")]


def test_a_region_that_vouches_for_people_passes_and_keeps_the_key_in_its_vault() -> None:
    spec = StackSpec(AZURE_STACK, "region", AZURE_STACK, ())
    items = registered(lambda world: region_azure.build(world, spec), world=certified())
    assert judged(items, certified()) == {}
    (secret,) = (one for one in items if one.type == f"{AZURE}keyvault:Secret")
    assert secret.props["tags"]["Name"] == f"azure-alone-{AZURE_STACK}-ssh-authority"
