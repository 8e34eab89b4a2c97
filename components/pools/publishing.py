"""A pool's bundle in the fleet bucket: its files, and last the signed manifest that names them. The same everywhere."""

import json
from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pulumi_tls as tls

from components.boot.user_data import sealed
from components.control_plane.bundle import Bundle, digests, manifest, version
from fleet.buckets import bucket_name
from fleet.model import Fleet

from .bundle import MANIFEST, bundle
from .spec import PoolSpec

# An object's tags, by its name.
Tags = Callable[[str], dict[str, str]]


def store_region(fleet: Fleet, spec: PoolSpec) -> str:
    """Whose fleet bucket holds the bundle: the pool's own region's, and for a site the cluster's home."""
    return fleet.clusters[spec.cluster].region if spec.site else spec.place


class Publishing:
    """`signing` is the pool's own key: what signs for the control plane stays in the cluster's stack."""

    def __init__(self, fleet: Fleet, spec: PoolSpec, key_arn: pulumi.Input[str], parent: pulumi.Resource) -> None:
        self.spec, self.key_arn, self.parent = spec, key_arn, parent
        self.bucket = bucket_name(fleet, store_region(fleet, spec))
        self.signing = tls.PrivateKey("manifests", algorithm="ED25519", opts=pulumi.ResourceOptions(parent=parent))

    @property
    def verify_key(self) -> pulumi.Output[str]:
        """As the boot stub takes it: the body of a public key's PEM is base64 of its DER form."""
        pem: pulumi.Output[str] = self.signing.public_key_pem
        return pem.apply(lambda text: "".join(text.strip().splitlines()[1:-1]))

    def publish(self, authority: pulumi.Input[str], tags: Tags) -> aws.s3.BucketObjectv2:
        """The pool's bundle; gives the manifest."""
        files = pulumi.Output.from_input(authority).apply(lambda pem: bundle(self.spec, pem).files)
        return self.lay(self.spec.prefix, files, tags)

    def lay(
        self, prefix: str, files: pulumi.Output[dict[str, str]], tags: Tags, suffix: str = ""
    ) -> aws.s3.BucketObjectv2:
        """Files and their manifest below a prefix; gives the manifest."""
        told = files.apply(lambda made: digests(Bundle(self.spec.name, made, {})))
        own = pulumi.ResourceOptions(parent=self.parent)
        key = told.apply(lambda t: f"{prefix}/{version(t)}.json")
        body = self._object(f"files{suffix}", key, files.apply(json.dumps), tags, own)
        text = told.apply(lambda t: manifest(prefix, t, ""))
        signed = pulumi.Output.all(self.signing.private_key_pem, text).apply(lambda both: sealed(*both))
        after = pulumi.ResourceOptions(parent=self.parent, depends_on=[body])
        return self._object(f"manifest{suffix}", f"{prefix}/{MANIFEST}", pulumi.Output.unsecret(signed), tags, after)

    def _object(
        self,
        name: str,
        key: pulumi.Input[str],
        content: pulumi.Input[str],
        tags: Tags,
        opts: pulumi.ResourceOptions,
    ) -> aws.s3.BucketObjectv2:
        return aws.s3.BucketObjectv2(
            name,
            bucket=self.bucket,
            key=key,
            content=content,
            content_type="application/json",
            server_side_encryption="aws:kms",
            kms_key_id=self.key_arn,
            tags=tags(name),
            opts=opts,
        )
