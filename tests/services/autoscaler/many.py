"""A cluster of thousands of machines in 16 scaling groups of three regions, for benches."""

from typing import Any

from tests.services.autoscaler import bed
from tests.services.autoscaler.bed import Cloud

REGIONS, POOLS = ("us-west-2", "us-east-1", "eu-west-1"), 16


def settings() -> dict[str, Any]:
    """Of a cluster with so many scaling groups, of 500 machines at most each, and no other limits."""
    one = next(group for group in bed.settings(bed.example())["groups"] if group["gpus"])
    groups = [
        {**one, "name": f"example-pool-{number}", "pool": f"pool-{number}", "region": REGIONS[number % 3], "most": 500}
        for number in range(POOLS)
    ]
    return {"cluster": bed.CLUSTER, "region_clouds": dict.fromkeys(REGIONS, "aws"), "groups": groups}


def launch(cloud: Cloud, told: dict[str, Any], machines: int) -> None:
    """So many of them, spread over the groups."""
    for number, group in enumerate(told["groups"]):
        ec2, scaling = cloud.client("ec2", group["region"]), cloud.client("autoscaling", group["region"])
        data = {"ImageId": ec2.describe_images()["Images"][0]["ImageId"], "InstanceType": "t3.micro"}
        ec2.create_launch_template(LaunchTemplateName=group["pool"], LaunchTemplateData=data)
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=group["name"],
            MinSize=0,
            MaxSize=500,
            DesiredCapacity=machines // POOLS + (number < machines % POOLS),
            AvailabilityZones=[f"{group['region']}a"],
            LaunchTemplate={"LaunchTemplateName": group["pool"]},
            Tags=[{"Key": "landbridge:cluster", "Value": bed.CLUSTER, "PropagateAtLaunch": False}],
        )
