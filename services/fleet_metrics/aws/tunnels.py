"""How tunnels of VPN connections in a region of AWS are, by CloudWatch.

EC2's own answer (DescribeVpnConnections) has the keys of all tunnels in it, which no pod may see: so tags tell the
connections' ids, and the metric TunnelState the rest ("Monitoring AWS Site-to-Site VPN tunnels using Amazon
CloudWatch"). It is 1 where BGP speaks and 0 elsewhere, and by VpnId it is told of both tunnels.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from fleet.aws import watch

from .clients import client, errors

# A filter takes 200 values.
AT_ONCE = 200


class Region:
    """One thread calls it."""

    def __init__(self, region: str, ec2: Any = None, cloudwatch: Any = None) -> None:
        self.region = region
        self.ec2, self.watch = ec2 or client("ec2", region), cloudwatch or client("cloudwatch", region)

    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:
        """By tags Name. Of two of one name, one of which is going, the better counts. Raises CloudError."""
        with errors(self.region):
            ids = dict(self._ids(sorted(named)))
            found = dict.fromkeys({*named} - {*ids.values()}, 0.0)
            for id_, state in watch.last(self.watch, {id_: _metric(id_) for id_ in ids}, now):
                found[ids[id_]] = max(state, found.get(ids[id_], 0.0))
            return found

    def _ids(self, named: Sequence[str]) -> Iterator[tuple[str, str]]:
        pages = self.ec2.get_paginator("describe_tags")
        for first in range(0, len(named), AT_ONCE):
            filters = {"resource-type": ["vpn-connection"], "key": ["Name"], "value": named[first : first + AT_ONCE]}
            for page in pages.paginate(Filters=[{"Name": name, "Values": of} for name, of in filters.items()]):
                yield from ((one["ResourceId"], one["Value"]) for one in page["Tags"] if one["Value"] in named)


def _metric(id_: str) -> watch.Metric:
    return watch.Metric("AWS/VPN", "TunnelState", {"VpnId": id_}, "Average")
