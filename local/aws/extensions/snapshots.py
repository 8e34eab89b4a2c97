"""Snapshots of volumes, which the local cloud does not have: calls that make or use one are refused.

EC2 API: CreateSnapshot, CopySnapshot, CreateVolume, RunInstances. A snapshot is a volume at one moment.
Here a volume is a folder that a machine writes to: copied file by file it would be of many moments, and what a database
makes of that tells nothing of the real thing. Without data, as moto has them, a restore would come up empty.
"""

from typing import Any, NoReturn

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response

from .patching import override

MAKING = ("create_snapshot", "create_snapshots", "copy_snapshot")


def install() -> None:
    """Refuses what the local cloud can't honour; images, which are a name only, keep theirs."""
    for name in MAKING:

        @override(EC2Response, name)
        def make(self: Any, original: Any) -> NoReturn:  # noqa: ARG001
            refuse("takes no snapshots of volumes")

    @override(EC2Response, "create_volume")
    def create_volume(self: Any, original: Any) -> Any:
        check(self._get_param("SnapshotId"))
        return original()


def check(snapshot: Any) -> None:
    """Raises EC2ClientError where a volume would be made of one."""
    if snapshot:
        refuse(f"makes no volume of a snapshot ({snapshot}): it would be empty")


def refuse(what: str) -> NoReturn:
    """Raises EC2's error for what is not to be had."""
    message = f"The local cloud {what}. Copy the data instead, as etcd's backups do"
    raise EC2ClientError("UnsupportedOperation", message)
