"""What every stack of a fleet registers in its first preview, without an engine, and what the policies say of it."""

import asyncio
import datetime
from importlib import import_module
from typing import Any

import pulumi
from pulumi.runtime import rpc

from fleet import images
from fleet.azure import images as azure_images
from fleet.image_names import STABLE
from fleet.world import World
from policies import pack
from policies.reading import UNKNOWN, Item
from stacks import outputs
from stacks.catalogue import StackSpec, catalogue
from tests.support import golden

JUDGED = ("aws:", "azure-native:", "tls:", "random:", "kubernetes:")
# What only an update makes: a preview does not know it.
KEYS = ("privateKeyPem", "publicKeyPem", "publicKeyOpenssh", "certPem", "certRequestPem")
MADE: dict[str, dict[str, Any]] = {
    "tls": dict.fromkeys(KEYS, rpc.UNKNOWN),
    "random": dict.fromkeys(("hex", "base64", "result"), rpc.UNKNOWN),
    "azure-native:keyvault:Secret": {"properties": {"secretUriWithVersion": rpc.UNKNOWN}},
}
IMAGE, VERSION, NOBODY = "ami-0c00000000000c001", "1.2.3", "00000000-0000-0000-0000-00000000000c"


def clouds_say(token: str, asked: dict[str, Any], world: World) -> dict[str, Any]:
    """Where nothing of the fleet stands: images are there, machines are not."""
    now = datetime.datetime.now(datetime.UTC).isoformat()
    (kubernetes,) = {cluster.kubernetes for cluster in world.fleet.clusters.values()}
    tags = {images.TAG: kubernetes, images.DRIVER: "580.1"}
    answers: dict[str, Any] = {
        "aws:ec2/getInstances:getInstances": {"privateIps": [], "ids": [], "id": "i", "ipv6Addresses": []},
        "aws:ssm/getParametersByPath:getParametersByPath": {
            "names": [f"{asked.get('path')}/{STABLE}"],
            "values": [IMAGE],
        },
        "aws:ec2/getAmiIds:getAmiIds": {"ids": [IMAGE]},
        "aws:ec2/getAmi:getAmi": {"tags": tags, "creationDate": now},
        "azure-native:authorization:getClientConfig": {"objectId": NOBODY},
        "azure-native:authorization:getClientToken": {"token": "a-token"},
        "azure-native:compute:getVirtualMachine": {},
        "azure-native:compute:getGalleryImage": {
            "tags": {azure_images.tag(STABLE, region): VERSION for region in world.fleet.regions}
        },
        "azure-native:compute:getGalleryImageVersion": {
            "tags": tags,
            "publishingProfile": {
                "publishedDate": now,
                "targetRegions": [{"name": region} for region in world.fleet.regions],
            },
        },
    }
    return dict(answers[token])


class FirstPreview(pulumi.runtime.Mocks):
    """Notes what is registered. Stacks below publish nothing yet."""

    def __init__(self, world: World, stack: str) -> None:
        self.world, self.stack, self.items = world, stack, list[Item]()

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ == "pulumi:pulumi:StackReference":
            return args.name, {**args.inputs, "outputs": {}}
        if args.typ.startswith(JUDGED):
            urn = f"urn:pulumi:{self.stack}::landbridge::{args.typ}::{args.name}"
            provider = args.provider.split("::")[-2] if args.provider else None
            # Mocks are not told of `protect`.
            self.items.append(Item(args.typ, args.name, urn, plain(args.inputs), protect=True, provider=provider))
        # Azure's answer has identities as a table, and a program gives a list.
        told = {name: value for name, value in args.inputs.items() if name != "identity"}
        return "", {**told, **MADE.get(args.typ.partition(":")[0], {}), **MADE.get(args.typ, {})}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        return clouds_say(args.token, args.args, self.world)


def plain(value: Any) -> Any:
    """As policies read it."""
    if isinstance(value, dict) and golden.SECRET in value:
        return plain(value["value"])
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, pulumi.output.Unknown):
        return UNKNOWN
    return int(value) if isinstance(value, float) and value.is_integer() else value


def previewed(world: World, stack: StackSpec) -> list[Item]:
    """What one stack registers."""
    mocks = FirstPreview(world, stack.name)
    outputs._reference.cache_clear()
    # Pulumi takes the thread's own, which an `asyncio.run` of another test has taken away.
    asyncio.set_event_loop(asyncio.new_event_loop())
    pulumi.runtime.set_mocks(mocks, project="landbridge", stack=stack.name, preview=True)

    @pulumi.runtime.test
    def program() -> Any:
        return pulumi.Output.from_input(import_module(f"stacks.{stack.kind}").build(world, stack))

    program()
    outputs._reference.cache_clear()
    return mocks.items


def refused(world: World) -> tuple[dict[str, int], list[str]]:
    """How many resources each stack has, and what the policies refuse."""
    counted, told = dict[str, int](), list[str]()
    for stack in catalogue(world.fleet):
        items = previewed(world, stack)
        counted[stack.name] = len(items)
        told += [f"{stack.name}: {line}" for line in judged(items, world)]
    return counted, told


def judged(items: list[Item], world: World) -> list[str]:
    """What the policies find, a line each."""
    return [
        f"{name}: {one.type} {one.name}: {one.what}"
        for name, (_, judges) in pack.RULES.items()
        for judge in judges
        for one in judge(items, world)
    ]
