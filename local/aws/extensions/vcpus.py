"""Quotas of vCPUs: what Service Quotas says of them, what CloudWatch says of their use, and launches beyond them.
Those of addresses and of VPCs, which other calls keep (limits.py), are told, too.

Amazon EC2 user guide, "Amazon EC2 On-Demand Instance quotas" and "Spot Instance quotas"; Service Quotas user guide,
"Service Quotas and Amazon CloudWatch alarms"; "Error codes for the Amazon EC2 API". What an account was granted is set
as other quotas are (limits.py), by code: POST /landbridge-api/quotas {"L-417A185B": 192}. DEFAULT is
more than AWS gives anybody by itself, so that nothing is refused unless somebody has said so.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from moto.cloudwatch.models import CloudWatchBackend, MetricDatum
from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.servicequotas.exceptions import NoSuchResource
from moto.servicequotas.models import ServiceQuotasBackend

from . import launches, limits
from .patching import override

DEFAULT = 1_000_000
# AWS is as late.
LATE = timedelta(minutes=1)
LIVE = ("pending", "running")
STANDARD = "Standard (A, C, D, H, I, M, R, T, Z)"


class Bucket(NamedTuple):
    """Of one quota: `class_` is that of its metric, `types` are the letters that its machine types begin with."""

    name: str
    class_: str
    types: str
    spot: bool = False


BUCKETS = {
    "L-1216C47A": Bucket(f"Running On-Demand {STANDARD} instances", "Standard/OnDemand", "[acdhimrtz]"),
    "L-DB2E81BA": Bucket("Running On-Demand G and VT instances", "G/OnDemand", "g|vt"),
    "L-417A185B": Bucket("Running On-Demand P instances", "P/OnDemand", "p"),
    "L-34B43A08": Bucket(f"All {STANDARD} Spot Instance Requests", "Standard/Spot", "[acdhimrtz]", spot=True),
    "L-3819A6DF": Bucket("All G and VT Spot Instance Requests", "G/Spot", "g|vt", spot=True),
    "L-7212CCBC": Bucket("All P Spot Instance Requests", "P/Spot", "p", spot=True),
}
# Those of other things: service and code → AWS's name, and what `limits` calls it. AWS has no metric of their use.
COUNTS = {
    ("ec2", "L-0263D0A3"): ("EC2-VPC Elastic IPs", "addresses"),
    ("vpc", "L-F678F1CE"): ("VPCs per Region", "VPCs"),
}
SERVICES = {"ec2": "Amazon Elastic Compute Cloud (Amazon EC2)", "vpc": "Amazon Virtual Private Cloud (Amazon VPC)"}
# How EC2 refuses what would be beyond: on demand, and spot.
REFUSALS = {
    False: (
        "VcpuLimitExceeded",
        "You have requested more vCPU capacity than your current vCPU limit of {} allows for the instance bucket that "
        "the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request "
        "an adjustment to this limit.",
    ),
    True: ("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"),
}


def install() -> None:
    limits.DEFAULTS.update(dict.fromkeys(BUCKETS, DEFAULT))
    _answer()
    _measure()
    _enforce()


def _answer() -> None:
    @override(ServiceQuotasBackend, "get_service_quota")
    def get_service_quota(self: Any, original: Any, service_code: str, quota_code: str) -> Any:
        start = f"arn:aws:servicequotas:{self.region_name}:{self.account_id}"
        if counted := COUNTS.get((service_code, quota_code)):
            return _quota(start, service_code, quota_code, counted[0], limits.granted(counted[1]))
        if service_code != "ec2":
            return original(service_code, quota_code)
        if quota_code not in BUCKETS:
            raise NoSuchResource
        bucket = BUCKETS[quota_code]
        return {
            **_quota(start, "ec2", quota_code, bucket.name, limits.granted(quota_code)),
            "UsageMetric": {
                "MetricNamespace": "AWS/Usage",
                "MetricName": "ResourceCount",
                "MetricDimensions": _dimensions(bucket),
                "MetricStatisticRecommendation": "Maximum",
            },
        }


def _quota(start: str, service: str, code: str, name: str, most: int) -> dict[str, Any]:
    return {
        "ServiceCode": service,
        "ServiceName": SERVICES[service],
        "QuotaArn": f"{start}:{service}/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": float(most),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
        "QuotaAppliedAtLevel": "ACCOUNT",
    }


def _measure() -> None:
    @override(CloudWatchBackend, "get_all_metrics")
    def get_all_metrics(self: Any, original: Any) -> Any:
        return [*original(), *_data(ec2_backends[self.account_id][self.region_name])]


def _data(backend: Any) -> Iterator[MetricDatum]:
    """Nothing of what nobody uses."""
    for bucket in BUCKETS.values():
        if used := _used(backend, bucket):
            dimensions = [{"Name": name, "Value": value} for name, value in _dimensions(bucket).items()]
            yield MetricDatum("AWS/Usage", "ResourceCount", float(used), dimensions, utcnow() - LATE)


def _enforce() -> None:
    @override(EC2Backend, "run_instances")
    def run_instances(self: Any, original: Any, image_id: str, count: int, *args: Any, **given: Any) -> Any:
        kind = given.get("instance_type")
        if given.get("is_instance_type_default"):
            kind = launches.template_data(self, given.get("launch_template")).get("InstanceType", kind)
        spot = given.get("instance_market_options") == "spot"
        for code, bucket in BUCKETS.items():
            most = limits.granted(code)
            if kind and _in(bucket, kind, spot=spot) and _used(self, bucket) + count * _vcpus(kind) > most:
                name, message = REFUSALS[spot]
                raise EC2ClientError(name, message.format(most))
        return original(image_id, count, *args, **given)


def _dimensions(bucket: Bucket) -> dict[str, str]:
    return {"Class": bucket.class_, "Resource": "vCPU", "Service": "EC2", "Type": "Resource"}


def _used(backend: Any, bucket: Bucket) -> int:
    live = (one for one in backend.all_instances() if one.state in LIVE)
    return sum(
        _vcpus(one.instance_type)
        for one in live
        if _in(bucket, one.instance_type, spot=getattr(one, "lifecycle", None) == "spot")
    )


def _in(bucket: Bucket, kind: str, *, spot: bool) -> bool:
    return bucket.spot == spot and re.match(rf"({bucket.types})\d", kind) is not None


def _vcpus(kind: str) -> int:
    return int(INSTANCE_TYPES[kind]["VCpuInfo"]["DefaultVCpus"]) if kind in INSTANCE_TYPES else 0
