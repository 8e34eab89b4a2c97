"""Quotas of EC2 in a region, by Service Quotas, and what of them is used, by CloudWatch."""

from collections.abc import Collection, Mapping
from typing import Any

from fleet.aws import quota_usage
from fleet.quota_share import Share

from .clients import client, errors


class Region:
    """One thread calls it."""

    def __init__(self, region: str, quotas: Any = None, cloudwatch: Any = None) -> None:
        self.region = region
        self.quotas, self.watch = quotas or client("service-quotas", region), cloudwatch or client("cloudwatch", region)

    def told(self, named: Collection[str], now: float) -> Mapping[str, Share]:
        """By codes. Raises CloudError."""
        with errors(self.region):
            return quota_usage.told(self.quotas, self.watch, named, now)
