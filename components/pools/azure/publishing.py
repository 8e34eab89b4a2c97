"""A pool's bundle in an Azure region's fleet bucket: blobs of its container."""

import json

import pulumi
import pulumi_azure_native as azure

from components.control_plane.azure.singleton import life, secret, vaulted, version_of
from components.storage.azure.spec import CONTAINER
from fleet.buckets import resource_group, vault_name

from ..publishing import Publishing, Tags, store_region


class AzurePublishing(Publishing):
    """Encrypted by the account's own keys: `key_arn` is none. Blobs carry no tags; their folder says whose they are."""

    secret: pulumi.Resource | None = None

    def _object(
        self,
        name: str,
        key: pulumi.Input[str],
        content: pulumi.Input[str],
        tags: Tags,  # noqa: ARG002
        opts: pulumi.ResourceOptions,
    ) -> pulumi.Resource:
        text: pulumi.Output[str] = pulumi.Output.from_input(content)
        made: pulumi.Resource = azure.storage.Blob(
            name,
            account_name=self.bucket,
            container_name=CONTAINER,
            resource_group_name=resource_group(self.fleet, store_region(self.fleet, self.spec)),
            blob_name=key,
            type="Block",
            content_type="application/json",
            source=text.apply(pulumi.StringAsset),
            # A blob whose content changes is another resource of one name: machines that boot meanwhile ask again.
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True)),
        )
        return made

    def _kept(
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
        kept: pulumi.Output[str] = made.properties.secret_uri_with_version.apply(version_of)
        return kept

    @property
    def life(self) -> pulumi.Output[str]:
        """What the name of its secret ends in."""
        known: pulumi.Output[str] = self.signing.public_key_pem.apply(life)
        return known

    def secret_name(self, known: str, prefix: str = "") -> str:
        """Of a life."""
        return vaulted(f"{prefix or self.spec.prefix}/{known}")
