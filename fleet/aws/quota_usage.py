"""Quotas of EC2 in a region, by Service Quotas, and what of them is used, by CloudWatch.

A quota's own answer names the metric of its use ("Service Quotas and Amazon CloudWatch usage metrics"). Clients are
their callers': this package knows no cloud's library.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from ..quota_share import Share
from . import watch

SERVICE = "ec2"
# AWS publishes use only where there is some, and not always in time.
BACK = timedelta(hours=1)


def told(quotas: Any, cloudwatch: Any, codes: Collection[str], now: float) -> Mapping[str, Share]:
    """By codes; `quotas` and `cloudwatch` are boto3's clients. Raises what they do."""
    found = {code: quota(quotas, SERVICE, code) for code in sorted(codes)}
    metrics = {code: _metric(one["UsageMetric"]) for code, one in found.items() if one.get("UsageMetric")}
    used = dict(watch.last(cloudwatch, metrics, now, BACK))
    return {code: Share(one["Value"], used.get(code, 0.0)) for code, one in found.items()}


def quota(quotas: Any, service: str, code: str) -> Mapping[str, Any]:
    """What the account was granted. Raises what the client does."""
    answer: Mapping[str, Any] = quotas.get_service_quota(ServiceCode=service, QuotaCode=code)["Quota"]
    return answer


def _metric(usage: Mapping[str, Any]) -> watch.Metric:
    return watch.Metric(
        usage["MetricNamespace"],
        usage["MetricName"],
        usage["MetricDimensions"],
        usage.get("MetricStatisticRecommendation", "Maximum"),
    )
