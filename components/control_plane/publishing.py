"""How a signed bundle gets to where machines fetch it: keys, files, and last the manifest that names both.

The same on every cloud, for machines of one and for pools. What a bucket and a secrets store are made of, each cloud's
own callers say.
"""

import json
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import pulumi

from components.boot.user_data import signed_object

from .bundle import MANIFEST, Bundle, digests, manifest, version

Made = TypeVar("Made", bound=pulumi.Resource)
# Puts an object into the bucket: what it is, its key and its content.
Lay = Callable[[str, pulumi.Output[str], pulumi.Output[str], pulumi.ResourceOptions], Made]


class Signed(NamedTuple):
    """What a manifest vouches for. `title` is the machine's in descriptions, `prefix` the bundle's in the bucket.

    `files` are made without private keys, so that no mistake can put one into the bucket; `signing` is the PEM of what
    signs the manifest.
    """

    title: str
    prefix: str
    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]
    signing: pulumi.Input[str]


def publish(given: Signed, number: pulumi.Input[str], lay: Lay[Made], child: pulumi.ResourceOptions) -> Made:
    """Gives the manifest's object. `number` is the keys' version in the secrets store; empty for none."""
    contents = pulumi.Output.unsecret(
        pulumi.Output.all(given.files, given.keys).apply(lambda made: digests(Bundle(given.title, *made)))
    )
    key = contents.apply(lambda known: f"{given.prefix}/{version(known)}.json")
    body = lay("files", key, given.files.apply(json.dumps), child)
    text = pulumi.Output.all(contents, number).apply(lambda both: manifest(given.prefix, *both))
    signed = pulumi.Output.all(given.signing, text).apply(lambda both: signed_object(*both))
    place = pulumi.Output.from_input(f"{given.prefix}/{MANIFEST}")
    after = pulumi.ResourceOptions(parent=child.parent, depends_on=[body])
    return lay("manifest", place, pulumi.Output.unsecret(signed), after)
