"""How resources are kept: encrypted, tagged, protected, and made by a provider that the program names."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fleet.world import World

from .aws import buckets as aws_buckets
from .azure import stores as azure_stores
from .reading import UNKNOWN, Finding, Item, finding, tag, undecidable, values

ALWAYS, IF_ANY = "always", "if there are any"
BLOCK_DEVICES = {"rootBlockDevice.encrypted": ALWAYS, "ebsBlockDevices.encrypted": IF_ANY}
# Type → what must be true, of every entry of lists on the way → whether that may be left out.
ENCRYPTED: dict[str, dict[str, str]] = {
    "aws:efs/fileSystem:FileSystem": {"encrypted": ALWAYS},
    "aws:ebs/volume:Volume": {"encrypted": ALWAYS},
    "aws:ec2/instance:Instance": BLOCK_DEVICES,
    "aws:ec2/launchTemplate:LaunchTemplate": {"blockDeviceMappings.ebs.encrypted": ALWAYS},
    "aws:rds/instance:Instance": {"storageEncrypted": ALWAYS},
}
# Types that hold what nobody can make again → the resource option that keeps it.
STATEFUL = {
    "aws:s3/bucket:Bucket": ("protect",),
    "aws:efs/fileSystem:FileSystem": ("protect",),
    "aws:ebs/volume:Volume": ("protect",),
    "aws:kms/key:Key": ("protect",),
    "aws:rds/instance:Instance": ("protect",),
    # Deleting it deletes everything in it.
    "azure-native:resources:ResourceGroup": ("protect",),
    "azure-native:storage:StorageAccount": ("protect",),
    "azure-native:storage:BlobContainer": ("protect",),
    "azure-native:storage:FileShare": ("protect",),
    "azure-native:keyvault:Vault": ("protect",),
    "azure-native:compute:Disk": ("protect",),
}
FLEET, OWNER = "landbridge:fleet", "landbridge:owner"
# The engine's names for the providers that it makes by itself: default, default_7_51_1, with a download URL behind.
BY_ITSELF = re.compile(r"default(_\d+_\d+_\d+(_.*)?|_(https?|git\w*)_.*)?")


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in found:
        if item.provider is None or BY_ITSELF.fullmatch(item.provider):
            remedy = "Give it provider= or a parent that has one"
            yield finding(item, "provider", "it has no explicit provider", remedy)
        if item.type in STATEFUL and not item.protect:
            yield finding(item, "protect", "it holds state and is not protected", "Set protect=True")
        for path, when in ENCRYPTED.get(item.type, {}).items():
            yield from _encrypted(item, path, when)
        if taggable(item.type):
            yield from _tags(item, world)
    yield from aws_buckets.findings(found, aws_buckets.AT_REST)
    yield from azure_stores.recoverable(found)


def _encrypted(item: Item, path: str, when: str) -> Iterator[Finding]:
    found = list(values(item.props, path))
    if UNKNOWN in found:
        yield undecidable(item, path)
    # Launch templates have it as text.
    elif (not found and when == ALWAYS) or any(value not in (True, "true") for value in found):
        yield finding(item, path, f"{path} is not true", "Encrypt it")


def _tags(item: Item, world: World) -> Iterator[Finding]:
    for name, known in ((FLEET, {world.fleet.fleet}), (OWNER, set(world.fleet.teams))):
        value = tag(item, name)
        if value is UNKNOWN:
            yield undecidable(item, f"tags.{name}")
        elif value not in known:
            what = f"tag {name} is missing" if value is None else f"tag {name} is {value!r}"
            yield finding(item, f"tags.{name}", what, f"Set it to {' or '.join(sorted(known))}")


def taggable(token: str) -> bool:
    return has_property(token, "tags")


@cache
def has_property(token: str, name: str) -> bool:
    """Whether the installed SDK's resource has it. Reads the source: importing the module would take seconds."""
    package, module, kind = token.split(":")
    spec = find_spec(f"pulumi_{package.replace('-', '_')}")
    if spec is None or spec.origin is None:
        return False
    folder, _, file = module.removeprefix("index/").rpartition("/")
    if package == "azure-native":  # a folder for each service, and in it a file for each resource
        source = Path(spec.origin).parent / file / f"{_snake(kind)}.py"
    elif package == "kubernetes":  # a folder for each version, and rbac for rbac.authorization.k8s.io
        source = Path(spec.origin).parent / folder.partition(".")[0] / file / f"{kind}.py"
    else:
        source = Path(spec.origin).parent / folder / f"{_snake(file)}.py"
    return source.exists() and f"    def {_snake(name)}(self)" in source.read_text()


def _snake(name: str) -> str:
    # Two capitals belong together, but for the last before a small letter: PublicIPAddress is public_ip_address.
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
