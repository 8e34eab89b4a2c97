"""How resources are kept: encrypted, tagged, protected, and made by a provider that the program names."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fleet.world import World

from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable

# Type → what must be true. A list in between means: of every entry.
ENCRYPTED: dict[str, tuple[str, ...]] = {
    "aws:efs/fileSystem:FileSystem": ("encrypted",),
    "aws:ebs/volume:Volume": ("encrypted",),
    "aws:ec2/instance:Instance": ("rootBlockDevice", "encrypted"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("blockDeviceMappings", "ebs", "encrypted"),
    "aws:rds/instance:Instance": ("storageEncrypted",),
}
SSE = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
# Types that hold what nobody can make again.
STATEFUL = {
    "aws:s3/bucket:Bucket",
    "aws:efs/fileSystem:FileSystem",
    "aws:ebs/volume:Volume",
    "aws:kms/key:Key",
    "aws:rds/instance:Instance",
}
FLEET, OWNER = "landbridge:fleet", "landbridge:owner"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    buckets = {item.props.get("bucket") for item in of_types(found, {SSE})}
    for item in found:
        if item.provider is None or item.provider.startswith("default"):
            remedy = "Give it provider= or a parent that has one"
            yield finding(item, "it has no explicit provider", remedy)
        if item.type in STATEFUL and not item.protect:
            yield finding(item, "it holds state and is not protected", "Set protect=True")
        if item.type in ENCRYPTED:
            yield from _encrypted(item, ENCRYPTED[item.type])
        if item.type == "aws:s3/bucket:Bucket" and (item.props.get("bucket") not in buckets - {UNKNOWN}):
            if UNKNOWN in buckets or item.props.get("bucket") is UNKNOWN:
                yield undecidable(item, "bucket")
            else:
                yield finding(item, "it is not encrypted", "Add a BucketServerSideEncryptionConfiguration for it")
        if taggable(item.type):
            yield from _tags(item, world)


def _encrypted(item: Item, path: tuple[str, ...]) -> Iterator[Finding]:
    values = list(_values(item.props, path))
    if UNKNOWN in values:
        yield undecidable(item, ".".join(path))
    elif not values or not all(value in (True, "true") for value in values):
        yield finding(item, f"{'.'.join(path)} is not true", "Encrypt it")


def _values(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(value, list):
        for entry in value:
            yield from _values(entry, path)
    elif not path or value is UNKNOWN:
        yield value
    elif isinstance(value, dict):
        yield from _values(value.get(path[0]), path[1:])
    else:
        yield None


def _tags(item: Item, world: World) -> Iterator[Finding]:
    tags = item.props.get("tags") or {}
    for name, known in ((FLEET, {world.fleet.fleet}), (OWNER, set(world.fleet.teams))):
        value = UNKNOWN if tags is UNKNOWN else tags.get(name)
        if value is UNKNOWN:
            yield undecidable(item, f"tags.{name}")
        elif value not in known:
            what = f"tag {name} is missing" if value is None else f"tag {name} is {value!r}"
            yield finding(item, what, f"Set it to {' or '.join(sorted(known))}")


@cache
def taggable(token: str) -> bool:
    """Whether the installed SDK's resource takes tags. Reads the source: importing the module would take seconds."""
    package, module, _ = token.split(":")
    spec = find_spec(f"pulumi_{package.replace('-', '_')}")
    if spec is None or spec.origin is None:
        return False
    folder, _, file = module.partition("/")
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", file).lower()
    source = Path(spec.origin).parent / folder / f"{snake}.py"
    return source.exists() and "    def tags(self)" in source.read_text()
