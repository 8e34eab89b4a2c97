"""A pool's bundle in an Azure region's fleet bucket: blobs of its container."""

import json

import pulumi

from components.control_plane.azure.singleton import blob, life, secret, vaulted, version_of
from fleet.buckets import resource_group, vault_name

from ..publishing import Publishing, Tags, store_region


class AzurePublishing(Publishing):
    """Encrypted by the account's own keys: `key_arn` is none. Blobs carry no tags; their folder says whose they are."""

    secret: pulumi.Resource | None = None

    def _object(
        self,
        name: str,
        key: pulumi.Output[str],
        content: pulumi.Output[str],
        tags: Tags,  # noqa: ARG002
        opts: pulumi.ResourceOptions,
    ) -> pulumi.Resource:
        group = resource_group(self.fleet, store_region(self.fleet, self.spec))
        made: pulumi.Resource = blob(name, self.bucket, group, key, content, opts)
        return made

    def _store_keys(
        self,
        prefix: str,
        keys: pulumi.Output[dict[str, str]],
        tags: Tags,
        own: pulumi.ResourceOptions,
    ) -> pulumi.Output[str]:
        """In the region's vault; `secret` is what the machines' identity may read."""
        made = secret(
            "keys",
            resource_group(self.fleet, self.spec.place),
            vault_name(self.fleet, self.spec.place),
            self.life.apply(lambda known: self.secret_name(known, prefix)),
            keys.apply(json.dumps),
            tags("keys"),
            own,
        )
        self.secret = made
        version: pulumi.Output[str] = made.properties.secret_uri_with_version.apply(version_of)
        return version

    @property
    def life(self) -> pulumi.Output[str]:
        """What the name of its secret ends in."""
        known: pulumi.Output[str] = self.signing.public_key_pem.apply(life)
        return known

    def secret_name(self, known: str, prefix: str = "") -> str:
        """Of a life."""
        return vaulted(f"{prefix or self.spec.prefix}/{known}")
