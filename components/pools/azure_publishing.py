"""A pool's bundle in an Azure region's fleet bucket: blobs of its container."""

import pulumi
import pulumi_azure_native as azure

from components.storage.azure_spec import CONTAINER
from fleet.buckets import resource_group

from .publishing import Publishing, Tags, store_region


class AzurePublishing(Publishing):
    """Encrypted by the account's own keys: `key_arn` is none. Blobs carry no tags; their folder says whose they are."""

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
        raise NotImplementedError("stacks/pool_azure.py refuses pools whose machines show certificates")
