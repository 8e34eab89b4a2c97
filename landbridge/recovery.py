"""After a run was killed: the operations it had begun and whose end nobody saw.

A creation may have happened without its id reaching the state. Where the id follows from the inputs, the resource is
imported by it; others are dropped from the state with a warning that names what may be left over in the cloud.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pulumi.automation import CommandError

from .engine import OnEvent, StackEngine
from .story import of_urn

# Type → the input that is the id (pulumi-aws's documentation of each type, section Import).
ID_INPUTS = {
    "aws:s3/bucket:Bucket": "bucket",
    "aws:s3/bucketPolicy:BucketPolicy": "bucket",
    "aws:s3/bucketVersioning:BucketVersioning": "bucket",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": "bucket",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": "bucket",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": "bucket",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": "bucket",
    "aws:kms/alias:Alias": "name",
    "aws:iam/role:Role": "name",
    "aws:iam/instanceProfile:InstanceProfile": "name",
    "aws:cloudwatch/logGroup:LogGroup": "name",
    "aws:efs/backupPolicy:BackupPolicy": "fileSystemId",
    "aws:efs/fileSystemPolicy:FileSystemPolicy": "fileSystemId",
}

IMPORT = "--import-pending-creates"  # takes a URN, and once more its id


class Pending(NamedTuple):
    """One operation without an end: creating, updating, deleting or reading."""

    operation: str
    urn: str
    type: str
    name: str
    inputs: Mapping[str, Any]

    @property
    def id(self) -> str | None:
        """The id the resource has if it was created, where the inputs tell."""
        value = self.inputs.get(ID_INPUTS.get(self.type, ""))
        return value if isinstance(value, str) else None


def pending(state: Mapping[str, Any] | None) -> list[Pending]:
    """The operations left open in a stack's state."""
    found = []
    for operation in (state or {}).get("pending_operations") or ():
        resource = operation["resource"]
        inputs = resource.get("inputs") or {}
        found.append(Pending(operation["type"], resource["urn"], *of_urn(resource["urn"]), inputs))
    return found


def told(operations: Sequence[Pending]) -> list[str]:
    """What a preview says about them."""
    if not operations:
        return []
    names = ", ".join(f"{op.operation} {op.name}" for op in operations)
    return [f"an earlier run was killed while {names}; `landbridge up` clears that up first."]


def resume(engine: StackEngine, operations: Sequence[Pending], on_event: OnEvent) -> list[str]:
    """Brings the state in line with the cloud and returns notes for the user. Raises CommandError."""
    creates = [op for op in operations if op.operation == "creating"]
    known = {op.urn: op.id for op in creates if op.id}
    flags = [flag for urn, id_ in known.items() for word in (urn, id_) for flag in (IMPORT, word)]
    notes = [f"an earlier run was killed: {len(operations)} operations had no end. Asking the cloud about them."]
    notes += [orphan(op) for op in creates if op.urn not in known]
    try:
        engine.refresh(on_event, flags=[*flags, "--clear-pending-creates"])
    except CommandError:
        if not flags:
            raise
        # One of them had not been created yet after all, and the engine keeps asking for it: drop them by hand.
        engine.drop_pending()
        engine.refresh(on_event)
    return notes


def orphan(op: Pending) -> str:
    tags = op.inputs.get("tags") or {}
    found_by = ", ".join(f"{key}={value}" for key, value in sorted(tags.items())) if isinstance(tags, dict) else ""
    by = f", tags {found_by}" if found_by else ""
    return f"{op.type} {op.name} may have been created without being recorded: look for it in the cloud{by}."
