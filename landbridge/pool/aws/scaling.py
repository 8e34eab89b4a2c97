"""AWS's side of pools: scaling groups, launch templates, instances, parameters that name images."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from components.pools.aws.hooks import COMPLETER, TERMINATION
from components.pools.names import Names
from fleet.image_names import RESOLVE, of_pool
from fleet.images import DRIVER, NAME, TAG
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError

from ..regions import About, Image, RegionError
from ..sizes import Group, Machine

PATIENCE = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3, "mode": "standard"})
# AWS takes so many names in one question (DescribeAutoScalingGroups, SSM's GetParameters), and any number of ids
# (DescribeInstances).
NAMES, PARAMETERS, IDS = 50, 10, 200
# A failure says something about the next launch for so long; while machines are owed, for ever.
JUST = timedelta(minutes=15)
LAUNCH, ACTIVITIES = "Launching a new EC2 instance", 20
# What EC2 says of an instance whose kubelet writes no more.
TERMINATING = {"shutting-down", "terminated"}


def chunks(names: Iterable[str], size: int) -> Iterator[list[str]]:
    left = iter(names)
    return iter(lambda: list(islice(left, size)), [])


@contextmanager
def aws_errors(region: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise RegionError(f"{region} does not answer as it should: {error}") from None


class AwsScaling:
    """One region."""

    def __init__(self, session: Session, region: str) -> None:
        self.fleet, self.region = session.world.fleet, region
        self.names, self.of, self.patient = Names(self.fleet), session.at(region), session.at(region, PATIENCE)

    def groups(self, pools: Collection[str]) -> dict[str, list[Group]]:
        scaling, wanted = self.patient("autoscaling"), {pool: self.names.groups(pool) for pool in pools}
        described: dict[str, Mapping[str, Any]] = {}
        with aws_errors(self.region):
            for some in chunks((name for group in wanted.values() for name in group), NAMES):
                pages = scaling.get_paginator("describe_auto_scaling_groups").paginate(AutoScalingGroupNames=some)
                described |= {one["AutoScalingGroupName"]: one for page in pages for one in page["AutoScalingGroups"]}
            with ThreadPoolExecutor(8) as threads:
                activities = dict(
                    zip(described, threads.map(lambda name: launches(scaling, name), described), strict=True)
                )
        now = datetime.now(UTC)
        return {
            pool: [read(described[name], activities[name], now) for name in groups if name in described]
            for pool, groups in wanted.items()
        }

    def set_desired(self, wanted: Mapping[str, int]) -> None:
        with aws_errors(self.region):
            for name, number in wanted.items():
                self.of("autoscaling").set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=number)

    def about(self, names: Iterable[str]) -> dict[str, About]:
        found = dict[str, About]()
        with aws_errors(self.region):
            for some in chunks(names, IDS):
                chosen = [{"Name": "instance-id", "Values": some}]
                pages = self.of("ec2").get_paginator("describe_instances").paginate(Filters=chosen)
                for one in (i for page in pages for r in page["Reservations"] for i in r["Instances"]):
                    ends = one["State"]["Name"] in TERMINATING
                    found[one["InstanceId"]] = About(str(one["ImageId"]), one["LaunchTime"], ends)
        return found

    def end(self, name: str, *, replace: bool) -> None:
        """With `replace` its scaling group starts another at once."""
        with aws_errors(self.region):
            self.of("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=name, ShouldDecrementDesiredCapacity=not replace
            )

    def let_go(self, groups: Sequence[Group], waiting: Sequence[str], tell: Tell) -> set[str]:
        """The pause is for putting the node away, which is done: whoever else would do so finds nothing left."""
        foreign, home = set[str](), {one.name: group.name for group in groups for one in group.machines}
        for group in {home[name] for name in waiting if name in home}:
            with aws_errors(self.region):
                hooks = self.of("autoscaling").describe_lifecycle_hooks(AutoScalingGroupName=group)["LifecycleHooks"]
            for name in (name for name in waiting if home.get(name) == group):
                foreign |= self._continue(name, group, hooks, tell)
        return foreign

    def _continue(self, name: str, group: str, hooks: Sequence[Mapping[str, Any]], tell: Tell) -> set[str]:
        ending = [hook for hook in hooks if hook["LifecycleTransition"] == TERMINATION["lifecycle_transition"]]
        for hook in (hook for hook in ending if ours(hook)):
            try:
                self.of("autoscaling").complete_lifecycle_action(
                    LifecycleHookName=hook["LifecycleHookName"],
                    AutoScalingGroupName=group,
                    InstanceId=name,
                    LifecycleActionResult="CONTINUE",
                )
            except ClientError as error:
                # Another has ended the pause between our look and now.
                if error.response["Error"]["Code"] != "ValidationError":
                    raise LandbridgeError(f"The pause of {name} can't be ended: {error}") from None
        if others := [hook["LifecycleHookName"] for hook in ending if not ours(hook)]:
            tell(f"{name} waits for those who have set {', '.join(others)}")
            return {name}
        return set()

    def launched(self, pool: str) -> Collection[str]:
        chosen: Any = [{"Name": "tag:aws:autoscaling:groupName", "Values": list(self.names.groups(pool))}]
        with aws_errors(self.region):
            pages = self.patient("ec2").get_paginator("describe_instances").paginate(Filters=chosen)
            return [one["InstanceId"] for page in pages for made in page["Reservations"] for one in made["Instances"]]

    def parameter(self, pool: str) -> str:
        return of_pool(self.fleet, pool)

    def values(self, parameters: Iterable[str]) -> dict[str, str]:
        ssm, found = self.of("ssm"), dict[str, str]()
        with aws_errors(self.region):
            for some in chunks(sorted(set(parameters)), PARAMETERS):
                found |= {one["Name"]: str(one["Value"]) for one in ssm.get_parameters(Names=some)["Parameters"]}
        return found

    def images(self, ids: Collection[str]) -> dict[str, Image]:
        chosen = [{"Name": "image-id", "Values": sorted(ids)}]
        with aws_errors(self.region):
            listed = self.of("ec2").describe_images(Owners=["self"], Filters=chosen)["Images"] if ids else []
        return {one["ImageId"]: image(one) for one in listed}

    def template(self, pool: str) -> tuple[str, str]:
        """Of its launch template."""
        name = self.names.template(pool)
        with aws_errors(self.region):
            response = self.of("ec2").describe_launch_template_versions(LaunchTemplateName=name, Versions=["$Latest"])
        (newest,) = response["LaunchTemplateVersions"]
        return str(newest["VersionNumber"]), str(newest["LaunchTemplateData"].get("ImageId", ""))

    def starts(self, parameter: str, id_: str) -> str:  # noqa: ARG002
        """EC2 looks the image up at each launch."""
        return RESOLVE + parameter


def launches(scaling: Any, group: str) -> list[Mapping[str, Any]]:
    """The last ones, newest first."""
    activities = scaling.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=ACTIVITIES)["Activities"]
    return [one for one in activities if one["Description"].startswith(LAUNCH)]


def read(described: Mapping[str, Any], activities: Sequence[Mapping[str, Any]], now: datetime) -> Group:
    """Out of AWS's answers; `activities` are launches, newest first."""
    machines = tuple(
        Machine(one["InstanceId"], one["AvailabilityZone"], one["LifecycleState"], template(one))
        for one in described.get("Instances", ())
    )
    group = Group(
        described["AutoScalingGroupName"],
        described["MinSize"],
        described["MaxSize"],
        described["DesiredCapacity"],
        machines,
    )
    failed = next((str(one["ActivityId"]) for one in activities if one["StatusCode"] == "Failed"), "")
    return group._replace(failure=failure(activities, now, owed=group.desired > len(group.live)), failed=failed)


def template(described: Mapping[str, Any]) -> str:
    """The version of the launch template that a machine came of."""
    return str(described.get("LaunchTemplate", {}).get("Version", ""))


def failure(activities: Sequence[Mapping[str, Any]], now: datetime, *, owed: bool) -> str:
    """Why the newest launch failed; empty if it did not, or long ago with no machine owed."""
    if not activities or activities[0]["StatusCode"] != "Failed":
        return ""
    last = activities[0]
    if not owed and now - last.get("EndTime", last["StartTime"]) > JUST:
        return ""
    return str(last.get("StatusMessage") or "AWS does not say why").strip()


def image(described: Mapping[str, Any]) -> Image:
    tags = {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
    name = tags.get(NAME) or str(described.get("Name") or described["ImageId"])
    return Image(name, tags.get(TAG), tags.get(DRIVER), str(described.get("CreationDate", "")))


def ours(hook: Mapping[str, Any]) -> bool:
    try:
        return bool(json.loads(hook.get("NotificationMetadata") or "{}").get("completer") == COMPLETER)
    except (ValueError, AttributeError):
        return False
