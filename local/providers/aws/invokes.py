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


def _instances(aws: Any, arguments: Properties) -> Properties:
    filters = [{"Name": one["name"], "Values": list(one["values"])} for one in arguments.get("filters") or ()]
    filters += [
        {"Name": f"tag:{tag}", "Values": [value]} for tag, value in (arguments.get("instanceTags") or {}).items()
    ]
    states = list(arguments.get("instanceStateNames") or ["running"])
    filters.append({"Name": "instance-state-name", "Values": states})
    pages = aws.client("ec2", arguments.get("region")).get_paginator("describe_instances").paginate(Filters=filters)
    found = [i for page in pages for reservation in page["Reservations"] for i in reservation["Instances"]]
    return {
        "id": aws.region,
        "ids": [one["InstanceId"] for one in found],
        "privateIps": [one["PrivateIpAddress"] for one in found if one.get("PrivateIpAddress")],
        "publicIps": [one["PublicIpAddress"] for one in found if one.get("PublicIpAddress")],
        "ipv6Addresses": [one["Ipv6Address"] for one in found if one.get("Ipv6Address")],
        "instanceStateNames": states,
        "instanceTags": dict(arguments.get("instanceTags") or {}),
        "region": arguments.get("region") or aws.region,
    }


def _secret_version(aws: Any, arguments: Properties) -> Properties:
    wanted = {"VersionId": arguments.get("versionId"), "VersionStage": arguments.get("versionStage")}
    parameters = {"SecretId": arguments["secretId"], **{name: value for name, value in wanted.items() if value}}
    answer = aws.client("secretsmanager", arguments.get("region")).get_secret_value(**parameters)
    return {
        "arn": answer["ARN"],
        "id": f"{arguments['secretId']}|{answer['VersionId']}",
        "region": arguments.get("region") or aws.region,
        "secretId": arguments["secretId"],
        "secretString": answer.get("SecretString", ""),
        "secretBinary": "",
        "versionId": answer["VersionId"],
        "versionStage": arguments.get("versionStage") or "AWSCURRENT",
        "versionStages": answer["VersionStages"],
        "createdDate": answer["CreatedDate"].isoformat(),
    }


def _parameters(aws: Any, arguments: Properties) -> Properties:
    """Those right below a path; none is no error."""
    pages = aws.client("ssm", arguments.get("region")).get_paginator("get_parameters_by_path")
    parameters = {"Path": arguments["path"], "Recursive": bool(arguments.get("recursive"))}
    found = [one for page in pages.paginate(**parameters) for one in page["Parameters"]]
    return {
        "id": arguments["path"],
        "path": arguments["path"],
        "arns": [one["ARN"] for one in found],
        "names": [one["Name"] for one in found],
        "types": [one["Type"] for one in found],
        "values": [one["Value"] for one in found],
        "region": arguments.get("region") or aws.region,
    }


def _images(aws: Any, arguments: Properties) -> list[Any]:
    filters = [{"Name": one["name"], "Values": list(one["values"])} for one in arguments.get("filters") or ()]
    client = aws.client("ec2", arguments.get("region"))
    return list(client.describe_images(Filters=filters, Owners=list(arguments.get("owners") or ()))["Images"])


def _image_ids(aws: Any, arguments: Properties) -> Properties:
    ids = [image["ImageId"] for image in _images(aws, arguments)]
    return {"id": aws.region, "ids": ids, "owners": list(arguments["owners"]), "region": aws.region}


def _image(aws: Any, arguments: Properties) -> Properties:
    found = _images(aws, arguments)
    if len(found) != 1:
        raise ValueError(f"Your query returned {len(found)} images: it must be one")
    (image,) = found
    return {
        "id": image["ImageId"],
        "imageId": image["ImageId"],
        "name": image.get("Name", ""),
        "architecture": image["Architecture"],
        "creationDate": image["CreationDate"],
        "ownerId": image["OwnerId"],
        "state": image["State"],
        "tags": {tag["Key"]: tag["Value"] for tag in image.get("Tags", ())},
        "region": arguments.get("region") or aws.region,
    }


INVOKES: dict[str, Callable[[Any, Properties], Properties]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:ec2/getInstances:getInstances": _instances,
    "aws:index/getPartition:getPartition": _partition,
    "aws:secretsmanager/getSecretVersion:getSecretVersion": _secret_version,
    "aws:ssm/getParametersByPath:getParametersByPath": _parameters,
    "aws:ec2/getAmiIds:getAmiIds": _image_ids,
    "aws:ec2/getAmi:getAmi": _image,
}
