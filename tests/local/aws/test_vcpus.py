"""Quotas of vCPUs: Service Quotas tells them, CloudWatch their use, and EC2 refuses what is beyond."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from .support import image, refused

Client = Callable[..., Any]
REGION, G, G_SPOT = "eu-north-1", "L-DB2E81BA", "L-3819A6DF"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture
def granted(own: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    yield lambda **quotas: own("quotas", {code.replace("_", "-"): most for code, most in quotas.items()})
    own("quotas", {})


def used(client: Client, code: str) -> list[float]:
    told = client("service-quotas", REGION).get_service_quota(ServiceCode="ec2", QuotaCode=code)["Quota"]["UsageMetric"]
    metric = {
        "Namespace": told["MetricNamespace"],
        "MetricName": told["MetricName"],
        "Dimensions": [{"Name": name, "Value": value} for name, value in told["MetricDimensions"].items()],
    }
    stat = {"Metric": metric, "Period": 300, "Stat": told["MetricStatisticRecommendation"]}
    now = datetime.fromtimestamp(time.time(), UTC)
    answer = client("cloudwatch", REGION).get_metric_data(
        MetricDataQueries=[{"Id": "a", "MetricStat": stat}], StartTime=now - timedelta(minutes=10), EndTime=now
    )
    return [float(one) for one in answer["MetricDataResults"][0]["Values"]]


def test_what_is_used_is_what_runs_and_no_more_than_was_granted_runs(
    client: Client, ec2: Any, granted: Callable[..., Any]
) -> None:
    granted(L_DB2E81BA=12, L_3819A6DF=4)
    quota = client("service-quotas", REGION).get_service_quota(ServiceCode="ec2", QuotaCode=G)["Quota"]
    assert (quota["QuotaCode"], quota["Value"]) == (G, 12.0)
    assert quota["QuotaName"] == "Running On-Demand G and VT instances"
    launch = {"ImageId": image(ec2), "InstanceType": "g4dn.xlarge"}
    assert used(client, G) == []
    two = [one["InstanceId"] for one in ec2.run_instances(**launch, MinCount=2, MaxCount=2)["Instances"]]
    assert used(client, G) == [8.0]
    assert refused(ec2.run_instances, **launch, MinCount=2, MaxCount=2) == "VcpuLimitExceeded"
    # Spot machines count apart.
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}}
    three = ec2.run_instances(**launch, MinCount=1, MaxCount=1, **spot)["Instances"][0]["InstanceId"]
    assert (used(client, G), used(client, G_SPOT)) == ([8.0], [4.0])
    assert refused(ec2.run_instances, **launch, MinCount=1, MaxCount=1, **spot) == "MaxSpotInstanceCountExceeded"
    ec2.terminate_instances(InstanceIds=[*two, three])
    assert (used(client, G), used(client, G_SPOT)) == ([], [])


def test_a_template_s_machines_count_by_its_type(ec2: Any, granted: Callable[..., Any]) -> None:
    granted(L_DB2E81BA=4)
    data = {"ImageId": image(ec2), "InstanceType": "g4dn.2xlarge"}
    ec2.create_launch_template(LaunchTemplateName="vcpus", LaunchTemplateData=data)
    named = {"LaunchTemplateName": "vcpus"}
    assert refused(ec2.run_instances, LaunchTemplate=named, MinCount=1, MaxCount=1) == "VcpuLimitExceeded"


def test_other_quotas_are_told_of_no_more_than_moto_knows(client: Client) -> None:
    quotas = client("service-quotas", REGION)
    assert refused(quotas.get_service_quota, ServiceCode="ec2", QuotaCode="L-0") == "NoSuchResourceException"
    vpcs = quotas.get_service_quota(ServiceCode="vpc", QuotaCode="L-F678F1CE")["Quota"]
    assert vpcs["QuotaName"] == "VPCs per Region"
