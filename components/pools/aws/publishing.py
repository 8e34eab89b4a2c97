"""A pool's bundle in the fleet bucket of a region of AWS: objects of S3, encrypted by the region's key."""

import json

import pulumi
import pulumi_aws as aws

from components.control_plane.aws.singleton import bucket_object

from ..publishing import Publishing, Tags


class AwsPublishing(Publishing):
    """Keys, if it has any, are a secret of the same name."""

    def _store_keys(
        self, prefix: str, keys: pulumi.Output[dict[str, str]], tags: Tags, own: pulumi.ResourceOptions
    ) -> pulumi.Output[str]:
        """The keys' version in the secrets store."""
        secret = aws.secretsmanager.Secret(
            "keys",
            name=prefix,
            description=f"Key material of {self.spec.name}",
            kms_key_id=self.key_arn,
            # Made anew by every `up`; a name that waits for its end would keep the next one from coming up.
            recovery_window_in_days=0,
            tags=tags("keys"),
            opts=own,
        )
        current = aws.secretsmanager.SecretVersion(
            "keys", secret_id=secret.id, secret_string=keys.apply(json.dumps), opts=own
        )
        version: pulumi.Output[str] = current.version_id
        return version

    def _object(
        self,
        name: str,
        key: pulumi.Output[str],
        content: pulumi.Output[str],
        tags: Tags,
        opts: pulumi.ResourceOptions,
    ) -> pulumi.Resource:
        made: pulumi.Resource = bucket_object(name, self.bucket, key, content, self.key_arn, tags(name), opts)
        return made
