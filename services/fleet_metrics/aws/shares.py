"""What file systems in a region of AWS hold, by CloudWatch ("Amazon CloudWatch metrics for Amazon EFS").

EFS has no end and bills by the byte, so there is no most.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from fleet.aws import watch

from ..metrics import Room
from .clients import client, errors

# It is told once in fifteen minutes.
BACK = timedelta(hours=1)


class Region:
    """One thread calls it."""

    def __init__(self, region: str, cloudwatch: Any = None) -> None:
        self.region, self.watch = region, cloudwatch or client("cloudwatch", region)

    def room(self, named: Collection[str], now: float) -> Mapping[str, Room]:
        """By ids of file systems. One of which nothing is told is not in it. Raises CloudError."""
        with errors(self.region):
            found = watch.last(self.watch, {id_: _metric(id_) for id_ in sorted(named)}, now, BACK)
            return {id_: Room(used, None) for id_, used in found}


def _metric(id_: str) -> watch.Metric:
    return watch.Metric("AWS/EFS", "StorageBytes", {"FileSystemId": id_, "StorageClass": "Total"}, "Maximum")
