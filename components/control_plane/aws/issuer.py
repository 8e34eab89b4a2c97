"""A cluster's public issuer on AWS: a bucket with two documents, and IAM's trust in it."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws

from components.storage.aws.bucket import tls_only
from fleet import issuers

from ..issuer import AnyIssuer, IssuerArgs, resource_name


class Issuer(AnyIssuer):
    """Everybody may read two documents, which hold public keys and nothing else."""

    def __init__(self, name: str, args: IssuerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        fleet, spec, owner = args["fleet"], args["spec"], args["owner"]
        child = pulumi.ResourceOptions(parent=self)
        # Protected: with another address every token and every cloud role's trust would be worth nothing.
        bucket = aws.s3.Bucket(
            name,
            bucket=self.named,
            # Versions of public keys that were replaced are no loss.
            force_destroy=True,
            tags=owner.tags(name),
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        name_only = bucket.bucket
        aws.s3.BucketOwnershipControls(
            name, bucket=name_only, rule={"object_ownership": "BucketOwnerEnforced"}, opts=child
        )
        opened = aws.s3.BucketPublicAccessBlock(
            name,
            bucket=name_only,
            block_public_acls=True,
            ignore_public_acls=True,
            # The policy is public, for the two documents: see fleet.issuers.
            block_public_policy=False,
            restrict_public_buckets=False,
            opts=child,
        )
        aws.s3.BucketVersioning(name, bucket=name_only, versioning_configuration={"status": "Enabled"}, opts=child)
        aws.s3.BucketServerSideEncryptionConfiguration(
            name,
            bucket=name_only,
            # Not under a key of KMS, which the public may not use.
            rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"}}],
            opts=child,
        )
        policy = aws.s3.BucketPolicy(
            name,
            bucket=name_only,
            policy=json.dumps(bucket_policy(self.named, issuers.public(fleet, spec.name))),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[opened]),
        )
        published = [
            aws.s3.BucketObjectv2(
                resource_name(name, path),
                bucket=name_only,
                key=path,
                content=content,
                content_type="application/json",
                tags=owner.tags(path.rpartition("/")[2]),
                opts=child,
            )
            for path, content in self.documents.items()
        ]
        aws.iam.OpenIdConnectProvider(
            name,
            url=spec.issuer,
            client_id_lists=[issuers.AUDIENCE],
            tags=owner.tags(name),
            # IAM reads the documents at once.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy, *published]),
        )
        self.register_outputs({})


def bucket_policy(bucket: str, public: list[str]) -> dict[str, Any]:
    """Everybody may read the two documents, over TLS, and nobody anything else."""
    arn = f"arn:aws:s3:::{bucket}"
    return {
        "Version": "2012-10-17",
        "Statement": [
            tls_only(arn),
            {"Sid": "Issuer", "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": public},
        ],
    }
