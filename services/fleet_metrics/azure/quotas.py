"""Quotas of Microsoft.Compute in a region of Azure with what of them is used."""

from collections.abc import Collection, Mapping
from typing import Any

from fleet.azure import quota_usage
from fleet.quota_share import Share

from .clients import Arm, errors

VERSION = "2024-07-01"


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: Any = None) -> None:
        self.region, self.arm = region, Arm(client)

    def told(self, named: Collection[str], now: float) -> Mapping[str, Share]:  # noqa: ARG002
        """By ids, which are that of the region's list and a quota's name. One that the list lacks is not told.

        Raises CloudError.
        """
        (usages,) = {one.rpartition("/")[0] for one in named}
        with errors(self.region):
            rows = quota_usage.told(self.arm.listed(usages, VERSION))
        found = {one: rows.get(one.rpartition("/")[2].lower()) for one in named}
        return {one: share for one, share in found.items() if share}
