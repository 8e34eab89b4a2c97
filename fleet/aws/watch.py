"""The last values of metrics, as CloudWatch in a region tells them."""

from collections.abc import Hashable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
# A question takes 500 metrics.
AT_ONCE = 200
PERIOD_SECONDS = 300


class Metric(NamedTuple):
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    stat: str


def last(
    watch: Any, metrics: Mapping[Key, Metric], now: float, back: timedelta = timedelta(minutes=20)
) -> Iterator[tuple[Key, float]]:
    """Of each that has one in that time. Raises what the client does."""
    until, keys = datetime.fromtimestamp(now, UTC), [*metrics]
    pages = watch.get_paginator("get_metric_data")
    for first in range(0, len(keys), AT_ONCE):
        asked = [_query(number, metrics[key]) for number, key in enumerate(keys[first : first + AT_ONCE], first)]
        known = set[str]()
        for page in pages.paginate(
            MetricDataQueries=asked, StartTime=until - back, EndTime=until, ScanBy="TimestampDescending"
        ):
            for one in page["MetricDataResults"]:
                if one["Values"] and one["Id"] not in known:
                    known.add(one["Id"])
                    yield keys[int(one["Id"][1:])], float(one["Values"][0])


def _query(number: int, one: Metric) -> dict[str, Any]:
    """An id begins with a small letter."""
    metric = {
        "Namespace": one.namespace,
        "MetricName": one.name,
        "Dimensions": [{"Name": name, "Value": value} for name, value in one.dimensions.items()],
    }
    return {"Id": f"c{number}", "MetricStat": {"Metric": metric, "Period": PERIOD_SECONDS, "Stat": one.stat}}
