"""Quotas of an account in a region of AWS, what is used of them, and what the fleet uses.

vCPUs by the same code as a cluster's metrics (fleet.aws.quota_usage). Addresses and networks have no metric of use:
they are counted. What is the fleet's says its tag.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from fleet import quotas, shapes
from fleet.aws import quota_usage, sizes
from fleet.model import Fleet
from fleet.quotas import QUOTAS, Place
from landbridge.clouds.aws.lookups import ClientOf, tags
from landbridge.clouds.leftovers import FLEET
from landbridge.shapes.offer import AwayError

from .needs import ADDRESSES, NETWORKS
from .used import Used

# Quota → its service and code, the call that lists such things, and where its answer has them.
COUNTED: Mapping[Place, tuple[str, str, str, str]] = {
    ADDRESSES: ("ec2", "L-0263D0A3", "describe_addresses", "Addresses"),
    NETWORKS: ("vpc", "L-F678F1CE", "describe_vpcs", "Vpcs"),
}
NEEDS = (
    "servicequotas:GetServiceQuota and GetAWSDefaultServiceQuota, cloudwatch:GetMetricData, ec2:DescribeInstances, "
    "DescribeAddresses and DescribeVpcs"
)
LIVE = ("pending", "running")
ABSENT = "NoSuchResourceException"


class Defaults:
    """Service Quotas as `quota_usage` asks it. It has no value of some quotas that nobody has ever changed in the
    account: AWS's default counts then (API reference, GetServiceQuota).
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def get_service_quota(self, **asked: str) -> Any:
        try:
            return self.client.get_service_quota(**asked)
        except ClientError as error:
            if error.response["Error"]["Code"] != ABSENT:
                raise
            return self.client.get_aws_default_service_quota(**asked)


def read(fleet: Fleet, region: str, wanted: Collection[Place], of: ClientOf, now: float) -> Mapping[Place, Used]:
    """Raises AwayError."""
    codes = {place: QUOTAS[place[0]].code for place in wanted if place[0] in QUOTAS}
    asked = Defaults(of("service-quotas"))
    try:
        told = quota_usage.told(asked, of("cloudwatch"), codes.values(), now)
        ours = _vcpus(fleet, region, of("ec2")) if codes else Counter[Place]()
        found = {place: Used(code, *told[code], ours[place]) for place, code in codes.items()}
        return found | {place: _count(fleet, place, asked, of("ec2")) for place in COUNTED if place in wanted}
    except NoCredentialsError:
        raise AwayError(f"nobody is signed in to AWS, which {NEEDS} need") from None
    except (BotoCoreError, ClientError) as error:
        raise AwayError(f"AWS does not tell its quotas ({NEEDS}): {error}".rstrip(".")) from None


def _count(fleet: Fleet, place: Place, asked: Defaults, ec2: Any) -> Used:
    service, code, call, items = COUNTED[place]
    pages = ec2.get_paginator(call).paginate() if ec2.can_paginate(call) else [getattr(ec2, call)()]
    there = [one for page in pages for one in page[items]]
    ours = sum(tags(one).get(FLEET) == fleet.fleet for one in there)
    return Used(code, quota_usage.quota(asked, service, code)["Value"], len(there), ours)


def _vcpus(fleet: Fleet, region: str, ec2: Any) -> Counter[Place]:
    """Of the fleet's machines that run."""
    counted = Counter[Place]()
    for one in _machines(fleet, ec2):
        spot = one.get("InstanceLifecycle") == "spot"
        for place in quotas.of_type(sizes.family(one["InstanceType"]), "aws", spot=spot):
            counted[place] += _cpus(fleet, region, one)
    return counted


def _machines(fleet: Fleet, ec2: Any) -> Iterator[Mapping[str, Any]]:
    filters = [{"Name": f"tag:{FLEET}", "Values": [fleet.fleet]}, {"Name": "instance-state-name", "Values": [*LIVE]}]
    for page in ec2.get_paginator("describe_instances").paginate(Filters=filters):
        for reservation in page["Reservations"]:
            yield from reservation["Instances"]


def _cpus(fleet: Fleet, region: str, machine: Mapping[str, Any]) -> int:
    """What is known of the type; else what EC2 tells of the machine."""
    options = machine.get("CpuOptions") or {}
    known = shapes.listed(fleet, region, machine["InstanceType"])
    told = int(options.get("CoreCount", 0)) * int(options.get("ThreadsPerCore", 1))
    return known.shape.cpus if known else told


def ask(fleet: Fleet, region: str, place: Place, value: int) -> tuple[str, str]:  # noqa: ARG001
    """How to ask for more: a command, and a page of the console."""
    service, code = COUNTED[place][:2] if place in COUNTED else ("ec2", QUOTAS[place[0]].code)
    command = (
        f"aws service-quotas request-service-quota-increase --region {region} --service-code {service} "
        f"--quota-code {code} --desired-value {value}"
    )
    page = f"https://{region}.console.aws.amazon.com/servicequotas/home/services/{service}/quotas/{code}"
    return command, page
