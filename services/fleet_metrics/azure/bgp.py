"""Whether VPN gateways in a region of Azure speak BGP with their peers, as Azure Monitor measures it.

The gateway itself tells that by a POST (getBgpPeerStatus), which needs a right to act on it. Its metric needs one to
read metrics alone ("Supported metrics for Microsoft.Network/virtualNetworkGateways": BgpPeerStatus, 1 or 0 by
BgpPeerAddress and Instance). It comes every five minutes, and knows no peer that never spoke.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from .clients import ARM, Arm, errors

VERSION, INTERVAL = "2023-10-01", "PT5M"
METRIC, PEER, INSTANCE, AVERAGE = "BgpPeerStatus", "BgpPeerAddress", "Instance", "average"
# The newest value of this time counts: the metric comes late, and its last interval is not over.
BACK = timedelta(minutes=20)


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: Any = None) -> None:
        self.region, self.arm = region, Arm(client)

    def speak(self, named: Collection[tuple[str, str]], now: float) -> Mapping[tuple[str, str], float]:
        """By ids of gateways and peers' addresses. Raises CloudError."""
        with errors(self.region):
            told = {(id_, peer): self.arm.get(address(id_, peer, now), VERSION) for id_, peer in sorted(named)}
            return {key: found for key, answer in told.items() if (found := part(answer or {})) is not None}


def address(id_: str, peer: str, now: float) -> str:
    """Of "Metrics - List": one peer, by instances."""
    end = datetime.fromtimestamp(now, UTC).replace(microsecond=0, tzinfo=None)
    asked = {
        "api-version": VERSION,
        "metricnames": METRIC,
        "timespan": f"{(end - BACK).isoformat()}Z/{end.isoformat()}Z",
        "interval": INTERVAL,
        "aggregation": AVERAGE,
        "$filter": f"{PEER} eq '{peer}' and {INSTANCE} eq '*'",
    }
    return f"{ARM}{id_}/providers/Microsoft.Insights/metrics?{urlencode(asked)}"


def part(answer: Mapping[str, Any]) -> float | None:
    """Of the instances that are told of: each is what it was last, and None is where none is told of."""
    newest = [*_newest(answer)]
    return sum(newest) / len(newest) if newest else None


def _newest(answer: Mapping[str, Any]) -> Iterator[float]:
    for metric in answer.get("value") or []:
        for series in metric.get("timeseries") or []:
            points = [one for one in series.get("data") or [] if one.get(AVERAGE) is not None]
            if points:
                yield float(max(points, key=lambda one: str(one["timeStamp"]))[AVERAGE])
