"""What shares of Azure Files in a region hold, and what each may: the resource manager tells both of a share.

"File Shares - Get": `shareUsageBytes` comes with `$expand=stats` alone. No key of the account is needed, nor any right
to what lies there.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ..metrics import Room
from .clients import ARM, Arm, errors

VERSION, GIB = "2023-05-01", 2**30


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: Any = None) -> None:
        self.region, self.arm = region, Arm(client)

    def room(self, named: Collection[str], now: float) -> Mapping[str, Room]:  # noqa: ARG002
        """By ids of shares. One that is not there is not told. Raises CloudError."""
        with errors(self.region):
            found = {id_: self.arm.get(f"{ARM}{id_}?api-version={VERSION}&$expand=stats", VERSION) for id_ in named}
        told = {id_: one.get("properties") or {} for id_, one in found.items() if one}
        return {
            id_: Room(float(one["shareUsageBytes"]), float(one["shareQuota"]) * GIB)
            for id_, one in told.items()
            if "shareUsageBytes" in one and "shareQuota" in one
        }
