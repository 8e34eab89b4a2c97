"""Storage accounts and what is in them. Blobs are not ARM's: see `blobs`."""

from collections.abc import Mapping

from ..blobs import BLOB
from ..kinds import Kind, within

N, ACCOUNT = "Microsoft.Storage", "storageAccounts/{accountName}"

KINDS: Mapping[str, Kind] = {
    "azure-native:storage:StorageAccount": Kind(
        within(N, ACCOUNT),
        "storage.StorageAccountCreateParameters",
        answer="storage.StorageAccount",
        replace=frozenset(("isHnsEnabled", "location")),
    ),
    "azure-native:storage:BlobContainer": Kind(
        within(N, f"{ACCOUNT}/blobServices/default/containers/{{containerName}}"), "storage.BlobContainer"
    ),
    "azure-native:storage:BlobServiceProperties": Kind(
        within(N, f"{ACCOUNT}/blobServices/{{blobServicesName}}"), "storage.BlobServiceProperties", singleton=True
    ),
    # The real provider's own id: ARM has none for a blob.
    BLOB: Kind(
        within(N, f"{ACCOUNT}/blobServices/default/containers/{{containerName}}/blobs/{{blobName}}"),
        None,
        replace=frozenset(("contentMd5", "source", "type")),
    ),
    "azure-native:storage:ManagementPolicy": Kind(
        within(N, f"{ACCOUNT}/managementPolicies/{{managementPolicyName}}"), "storage.ManagementPolicy"
    ),
    "azure-native:storage:FileShare": Kind(
        within(N, f"{ACCOUNT}/fileServices/default/shares/{{shareName}}"),
        "storage.FileShare",
        query=("expand",),
    ),
    "azure-native:storage:FileServiceProperties": Kind(
        within(N, f"{ACCOUNT}/fileServices/{{fileServicesName}}"), "storage.FileServiceProperties", singleton=True
    ),
}
