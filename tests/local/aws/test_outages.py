"""Throttling and outages answer in each service's documented words, and pass."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

Client = Callable[..., Any]
REGION = "eu-north-1"


@pytest.fixture
def faults(own: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    yield lambda *given: own("faults", list(given))
    own("faults", method="DELETE")


def answer(call: Callable[..., Any], **given: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call(**given)
    error = caught.value.response
    return error["Error"]["Code"], error["ResponseMetadata"]["HTTPStatusCode"]


CALLS = [
    ("ec2", "describe_vpcs", {}, ("RequestLimitExceeded", 503)),
    ("autoscaling", "describe_auto_scaling_groups", {}, ("Throttling", 400)),
    ("iam", "list_roles", {}, ("Throttling", 400)),
    ("sts", "get_caller_identity", {}, ("Throttling", 400)),
    ("route53", "list_hosted_zones", {}, ("Throttling", 400)),
    ("efs", "describe_file_systems", {}, ("ThrottlingException", 400)),
    ("ssm", "describe_parameters", {}, ("ThrottlingException", 400)),
    ("secretsmanager", "list_secrets", {}, ("ThrottlingException", 400)),
    ("kms", "list_keys", {}, ("ThrottlingException", 400)),
    ("s3", "list_objects_v2", {"Bucket": "throttled"}, ("SlowDown", 503)),
    ("s3", "put_object", {"Bucket": "throttled", "Key": "k", "Body": b"x"}, ("SlowDown", 503)),
]


@pytest.fixture(scope="module", autouse=True)
def bucket(client: Client) -> None:
    client("s3", REGION).create_bucket(Bucket="throttled", CreateBucketConfiguration={"LocationConstraint": REGION})


@pytest.mark.parametrize(("service", "call", "given", "said"), CALLS)
def test_each_service_throttles_in_its_own_words_and_then_goes_on(
    client: Client, faults: Callable[..., Any], service: str, call: str, given: dict[str, Any], said: tuple[str, int]
) -> None:
    asked = getattr(client(service, REGION), call)
    faults({"kind": "throttling", "calls": 2})
    assert answer(asked, **given) == said
    assert answer(asked, **given) == said
    asked(**given)


@pytest.mark.parametrize(("service", "call", "given", "said"), CALLS)
def test_a_region_that_is_out_refuses_every_call_until_it_is_lifted(
    client: Client, faults: Callable[..., Any], service: str, call: str, given: dict[str, Any], said: tuple[str, int]
) -> None:
    faults({"kind": "outage", "region": REGION})
    for _ in range(2):
        assert answer(getattr(client(service, REGION), call), **given) == ("ServiceUnavailable", 503)
    client("ec2", "eu-south-1").describe_vpcs()
    faults()
    getattr(client(service, REGION), call)(**given)


def test_one_operation_of_one_region_is_throttled_and_no_other(client: Client, faults: Callable[..., Any]) -> None:
    ec2 = client("ec2", REGION)
    faults({"kind": "throttling", "calls": 1, "service": "ec2", "operation": "DescribeSubnets", "region": REGION})
    ec2.describe_vpcs()
    client("ec2", "eu-south-1").describe_subnets()
    assert answer(ec2.describe_subnets) == ("RequestLimitExceeded", 503)
    ec2.describe_subnets()
    s3 = client("s3", REGION)
    faults({"kind": "throttling", "calls": 1, "operation": "PutObject"})
    s3.list_objects_v2(Bucket="throttled")
    assert answer(s3.put_object, Bucket="throttled", Key="k", Body=b"x") == ("SlowDown", 503)


def test_a_throttled_call_does_nothing(client: Client, faults: Callable[..., Any]) -> None:
    ec2 = client("ec2", REGION)
    before = len(ec2.describe_vpcs()["Vpcs"])
    faults({"kind": "throttling", "calls": 1, "operation": "CreateVpc"})
    assert answer(ec2.create_vpc, CidrBlock="10.0.0.0/16")[0] == "RequestLimitExceeded"
    assert len(ec2.describe_vpcs()["Vpcs"]) == before


def test_a_call_whose_answer_is_lost_is_carried_out(client: Client, faults: Callable[..., Any]) -> None:
    ec2 = client("ec2", REGION)
    before = len(ec2.describe_vpcs()["Vpcs"])
    faults({"kind": "lost", "calls": 1, "operation": "CreateVpc"})
    with pytest.raises(ConnectionClosedError):
        ec2.create_vpc(CidrBlock="10.0.0.0/16")
    assert len(ec2.describe_vpcs()["Vpcs"]) == before + 1
    ec2.create_vpc(CidrBlock="10.0.0.0/16")


@pytest.mark.parametrize(("service", "call", "given", "said"), [CALLS[0], CALLS[1], CALLS[5], CALLS[9]])
def test_boto3_s_own_retries_overcome_throttling(
    client: Client,
    faults: Callable[..., Any],
    own: Callable[..., Any],
    service: str,
    call: str,
    given: dict[str, Any],
    said: tuple[str, int],
) -> None:
    faults({"kind": "throttling", "calls": 2})
    read = getattr(client(service, REGION, attempts=5), call)(**given)
    assert read["ResponseMetadata"]["RetryAttempts"] == 2
    assert own("faults") == []


def test_what_is_left_is_listed_and_can_be_cleared(
    client: Client, faults: Callable[..., Any], own: Callable[..., Any]
) -> None:
    faults(
        {"kind": "throttling", "calls": 3, "service": "ec2"},
        {"kind": "outage", "region": "eu-south-1"},
        {"region": REGION, "instance_type": "p5.48xlarge", "capacity": 2},
    )
    answer(client("ec2", REGION).describe_vpcs)
    listed = own("faults")
    assert [fault["kind"] for fault in listed] == ["throttling", "outage", "capacity"]
    assert (listed[0]["calls"], listed[1]["region"], listed[2]["capacity"]) == (2, "eu-south-1", 2)
    faults(*listed)
    assert own("faults") == listed, "what is listed can be put back"
    own("faults", method="DELETE")
    assert own("faults") == []
    client("ec2", "eu-south-1").describe_vpcs()


def test_a_kind_that_is_not_there_is_refused(faults: Callable[..., Any]) -> None:
    with pytest.raises(OSError, match="400"):
        faults({"kind": "earthquake", "region": REGION})
