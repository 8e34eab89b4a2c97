"""The few look-ups that programs make at AWS."""

from collections.abc import Callable
from typing import Any

from ..codec import Properties


def _caller(aws: Any, arguments: Properties) -> Properties:  # noqa: ARG001
    answer = aws.client("sts").get_caller_identity()
    return {"accountId": answer["Account"], "arn": answer["Arn"], "userId": answer["UserId"], "id": answer["Account"]}


def _region(aws: Any, arguments: Properties) -> Properties:
    name = arguments.get("region") or aws.region
    return {"name": name, "region": name, "id": name, "description": name, "endpoint": f"ec2.{name}.amazonaws.com"}


def _zones(aws: Any, arguments: Properties) -> Properties:
    filters = [{"Name": "state", "Values": [arguments["state"]]}] if arguments.get("state") else []
    zones = aws.client("ec2", arguments.get("region")).describe_availability_zones(Filters=filters)["AvailabilityZones"]
    names = [zone["ZoneName"] for zone in zones]
    return {"names": names, "zoneIds": [zone["ZoneId"] for zone in zones], "id": aws.region}


def _partition(aws: Any, arguments: Properties) -> Properties:  # noqa: ARG001
    return {"partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws", "id": "aws"}


INVOKES: dict[str, Callable[[Any, Properties], Properties]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:index/getPartition:getPartition": _partition,
}
