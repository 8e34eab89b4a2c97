"""How tunnels of VPN connections in a region of AWS are, by CloudWatch.

EC2's own answer (DescribeVpnConnections) has the keys of all tunnels in it, which no pod may see: so tags tell the
connections' ids, and the metric TunnelState the rest ("Monitoring AWS Site-to-Site VPN tunnels using Amazon
CloudWatch"). It is 1 where BGP speaks and 0 elsewhere, and by VpnId it is told of both tunnels.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from .clients import client, errors

# A filter takes 200 values, and a question 500 metrics.
AT_ONCE = 200
PERIOD_SECONDS, BACK = 300, timedelta(minutes=20)


class Region:
    """One thread calls it."""

    def __init__(self, region: str, ec2: Any = None, watch: Any = None) -> None:
        self.region = region
        self.ec2, self.watch = ec2 or client("ec2", region), watch or client("cloudwatch", region)

    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:
        """By tags Name. Of two of one name, one of which is going, the better counts. Raises CloudError."""
        with errors(self.region):
            ids = dict(self._ids(sorted(named)))
            found = dict.fromkeys({*named} - {*ids.values()}, 0.0)
            for id_, state in self._states([*ids], now):
                found[ids[id_]] = max(state, found.get(ids[id_], 0.0))
            return found

    def _ids(self, named: Sequence[str]) -> Iterator[tuple[str, str]]:
        pages = self.ec2.get_paginator("describe_tags")
        for first in range(0, len(named), AT_ONCE):
            filters = {"resource-type": ["vpn-connection"], "key": ["Name"], "value": named[first : first + AT_ONCE]}
            for page in pages.paginate(Filters=[{"Name": name, "Values": of} for name, of in filters.items()]):
                yield from ((one["ResourceId"], one["Value"]) for one in page["Tags"] if one["Value"] in named)

    def _states(self, ids: Sequence[str], now: float) -> Iterator[tuple[str, float]]:
        """The last of each, as far as there is one."""
        until = datetime.fromtimestamp(now, UTC)
        pages = self.watch.get_paginator("get_metric_data")
        for first in range(0, len(ids), AT_ONCE):
            asked = [_query(n, id_) for n, id_ in enumerate(ids[first : first + AT_ONCE], first)]
            known = set[str]()
            for page in pages.paginate(
                MetricDataQueries=asked, StartTime=until - BACK, EndTime=until, ScanBy="TimestampDescending"
            ):
                for one in page["MetricDataResults"]:
                    if one["Values"] and one["Id"] not in known:
                        known.add(one["Id"])
                        yield ids[int(one["Id"][1:])], float(one["Values"][0])


def _query(number: int, id_: str) -> dict[str, Any]:
    """An id begins with a small letter."""
    metric = {
        "Namespace": "AWS/VPN",
        "MetricName": "TunnelState",
        "Dimensions": [{"Name": "VpnId", "Value": id_}],
    }
    return {"Id": f"c{number}", "MetricStat": {"Metric": metric, "Period": PERIOD_SECONDS, "Stat": "Average"}}
