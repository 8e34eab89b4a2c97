"""Quotas of EC2 in a region, by Service Quotas, and what of them is used, by CloudWatch.

A quota's own answer names the metric of its use ("Service Quotas and Amazon CloudWatch usage metrics").
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from ..metrics import Share
from . import watch
from .clients import client, errors

# AWS publishes use only where there is some, and not always in time.
BACK = timedelta(hours=1)


class Region:
    """One thread calls it."""

    def __init__(self, region: str, quotas: Any = None, cloudwatch: Any = None) -> None:
        self.region = region
        self.quotas, self.watch = quotas or client("service-quotas", region), cloudwatch or client("cloudwatch", region)

    def told(self, named: Collection[str], now: float) -> Mapping[str, Share]:
        """By codes. Raises CloudError."""
        with errors(self.region):
            asked = (self.quotas.get_service_quota(ServiceCode="ec2", QuotaCode=code) for code in sorted(named))
            found = {one["Quota"]["QuotaCode"]: one["Quota"] for one in asked}
            metrics = {code: _metric(one["UsageMetric"]) for code, one in found.items() if one.get("UsageMetric")}
            used = dict(watch.last(self.watch, metrics, now, BACK))
        return {code: Share(one["Value"], used.get(code, 0.0)) for code, one in found.items()}


def _metric(usage: Mapping[str, Any]) -> watch.Metric:
    return watch.Metric(
        usage["MetricNamespace"],
        usage["MetricName"],
        usage["MetricDimensions"],
        usage.get("MetricStatisticRecommendation", "Maximum"),
    )
