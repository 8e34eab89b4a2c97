"""A pool of a standing cluster is rolled, by kubelets that end and join in earnest and beside upstream's autoscaler."""

import json
from typing import Any, Protocol

from tests.support.cloud import Cloud

POOL, REGION = "east-gpu", "us-east-1"
# A copy of what the channel names, which it then names; its id.
PROMOTED = """
ec2, ssm, parameter = client("ec2", "us-east-1"), client("ssm", "us-east-1"), "/test/images/gpu/1.36.2/stable"
first = ssm.get_parameters(Names=[parameter])["Parameters"][0]["Value"]
made = ec2.copy_image(SourceImageId=first, SourceRegion="us-east-1", Name="landbridge-gpu-next")["ImageId"]
tags = {"landbridge:kubernetes": "1.36.2", "landbridge:driver": "played", "landbridge:image": "gpu-next"}
ec2.create_tags(Resources=[made], Tags=[{"Key": key, "Value": value} for key, value in tags.items()])
ssm.put_parameter(Name=parameter, Value=made, Overwrite=True)
print(made)
"""
STANDING = """
import json
groups = client("autoscaling", "us-east-1").describe_auto_scaling_groups()["AutoScalingGroups"]
told = client("ec2", "us-east-1").describe_instances()["Reservations"]
live = [one for some in told for one in some["Instances"] if one["State"]["Name"] == "running"]
wanted = {group["AutoScalingGroupName"]: group["DesiredCapacity"] for group in groups}
print(json.dumps({"wanted": wanted, "images": {one["InstanceId"]: one["ImageId"] for one in live}}))
"""


class Standing(Protocol):
    cloud: Cloud

    def kubectl(self, *words: str, stdin: str = "") -> str: ...
    def nodes(self, pool: str) -> list[dict[str, Any]]: ...
    def job(self, name: str, place: str) -> list[dict[str, Any]]: ...


def standing(one: Standing) -> dict[str, dict[str, Any]]:
    return dict(json.loads(one.cloud.python(STANDING)))


def check(one: Standing, held: str) -> None:
    """`held` is a Job whose pod holds the pool's only machine."""
    (before,) = (node["metadata"]["name"] for node in one.nodes(POOL))
    made, wanted = one.cloud.python(PROMOTED).strip(), standing(one)["wanted"]
    roll = ("pool", "roll", POOL, "--local", "--yes")
    waiting = one.cloud.report(*roll, "--no-wait", code=1)
    assert (list(waiting["waiting"]), waiting["replaced"]) == ([before], {}), "it has work"
    one.kubectl("delete", "job", held, "--wait=false")
    told = one.cloud.report(*roll, "--timeout", "400", seconds=500)
    (after,) = (node["metadata"]["name"] for node in one.nodes(POOL))
    assert (list(told["replaced"]), told["came"], told["image"]) == ([before], [after], made)
    found = standing(one)
    assert found["images"][after] == made
    assert found["wanted"] == wanted, "nobody has bought or ended another one"
    (pod,) = one.job("after-the-roll", REGION)
    assert pod["spec"]["nodeName"] == after, "it takes work"
