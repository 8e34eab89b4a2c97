"""One region's scaling groups of AWS: few calls, each with a limit in time, and their answers in our words.

EC2 Auto Scaling API: DescribeAutoScalingGroups, DescribeScalingActivities, SetDesiredCapacity,
TerminateInstanceInAutoScalingGroup, CompleteLifecycleAction.
"""

import contextlib
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError, ReadTimeoutError

from fleet.autoscaler import CLUSTER_TAG

from .. import metrics, provider_ids
from ..calls import UNREACHABLE, CallFailure, counted
from ..cloud import AT_ONCE, AnswerLostError, CloudError
from ..group import Failure, Machine, Observation, State

# A change is tried once, within cloud.CHANGE_SECONDS. AWS takes a second; the local one launches meanwhile.
CHANGES = Config(connect_timeout=2, read_timeout=20, retries={"total_max_attempts": 1})
READS = Config(connect_timeout=3, read_timeout=12, retries={"total_max_attempts": 2, "mode": "standard"})
# Within cloud.CHECK_SECONDS.
CHECKS = Config(connect_timeout=1, read_timeout=4, retries={"total_max_attempts": 1})
# What a call fails with that AWS may have heard.
ANSWER_LOST = (ConnectionClosedError, ReadTimeoutError)
PAGE = 100
# Newest first: those of one launch lie close together.
ACTIVITIES = 50
# components/pools/aws/hooks.py sets it, and names this service as the one that ends its pause.
HOOK = "put-away"
# LifecycleState of an instance → ours. Of others, such as Standby, nobody here may dispose.
STATES: dict[str, State] = {
    "Pending": "starting",
    "Pending:Wait": "starting",
    "Pending:Proceed": "starting",
    "InService": "running",
    "Terminating": "ending",
    "Terminating:Wait": "ending",
    "Terminating:Proceed": "ending",
}
WAITING = "Terminating:Wait"
# A launch that waits for spot capacity for longer than this is refused: AWS would wait for days.
SPOT_SECONDS = 300
LAUNCH = "Launching"
SPOT_STATES = ("PendingSpotBidPlacement", "WaitingForSpotInstanceRequestId", "WaitingForSpotInstanceId")


class Aws:
    """`cluster` is the value of its machines' tag."""

    busy_seconds = 2.0

    def __init__(self, region: str, cluster: str) -> None:
        self.region, self.cluster = region, cluster
        self.client, self.change_client, self.check = (
            boto3.client("autoscaling", region_name=region, config=config) for config in (READS, CHANGES, CHECKS)
        )

    def groups(self) -> tuple[dict[str, Observation], dict[str, str]]:
        """Every group of the cluster by its name, and those instances whose end waits for us, with their groups."""
        at, found, waiting = time.monotonic(), dict[str, Observation](), dict[str, str]()
        with self.api_call("DescribeAutoScalingGroups"):
            given = {
                "Filters": [{"Name": f"tag:{CLUSTER_TAG}", "Values": [self.cluster]}],
                "PaginationConfig": {"PageSize": PAGE},
            }
            pages = list(self.client.get_paginator("describe_auto_scaling_groups").paginate(**given))
        metrics.calls.labels(self.region, "DescribeAutoScalingGroups", "again").inc(len(pages) - 1)
        for described in (group for page in pages for group in page["AutoScalingGroups"]):
            found[described["AutoScalingGroupName"]] = Observation(
                at, described["DesiredCapacity"], tuple(_machines(described))
            )
            for one in described["Instances"]:
                if one["LifecycleState"] == WAITING:
                    waiting[one["InstanceId"]] = described["AutoScalingGroupName"]
        return found, waiting

    def failures(self, group: str) -> tuple[Failure, ...]:
        """Launches that the group failed at lately, newest first."""
        with self.api_call("DescribeScalingActivities"):
            response = self.client.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=ACTIVITIES)
        return tuple(_failures(response["Activities"], time.time()))

    def resize(self, group: str, machines: int) -> None:
        with self.api_call("SetDesiredCapacity"):
            self.change_client.set_desired_capacity(
                AutoScalingGroupName=group, DesiredCapacity=machines, HonorCooldown=False
            )

    def size(self, group: str) -> int:
        """The machines that the cloud wants there. Raises CloudError."""
        with self.api_call("DescribeAutoScalingGroups"):
            response = self.check.describe_auto_scaling_groups(AutoScalingGroupNames=[group])
            return int(response["AutoScalingGroups"][0]["DesiredCapacity"])

    def end(self, group: str, ids: Collection[str]) -> dict[str, CloudError]:  # noqa: ARG002
        """A call each, all at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            tried = zip(ids, pool.map(self._end, ids), strict=True)
            return {id_: problem for id_, problem in tried if problem}

    def _end(self, instance: str) -> CloudError | None:
        try:
            self._terminate(instance)
        except CloudError as error:
            return error
        return None

    def _terminate(self, instance: str) -> None:
        """Not another in its place."""
        with self.api_call("TerminateInstanceInAutoScalingGroup"):
            self.change_client.terminate_instance_in_auto_scaling_group(
                InstanceId=instance, ShouldDecrementDesiredCapacity=True
            )

    def let_go(self, instance: str, group: str) -> None:
        """Ends the pause before a machine's end."""
        with self.api_call("CompleteLifecycleAction"):
            try:
                self.change_client.complete_lifecycle_action(
                    LifecycleHookName=HOOK,
                    AutoScalingGroupName=group,
                    InstanceId=instance,
                    LifecycleActionResult="CONTINUE",
                )
            except ClientError as error:
                # It has ended by itself between our look and now.
                if error.response["Error"]["Code"] != "ValidationError":
                    raise

    @contextlib.contextmanager
    def api_call(self, operation: str) -> Iterator[None]:
        """Counts the call. Raises CloudError."""
        with counted(self.region, operation, lambda error: _problem(f"{self.region}: {operation}", error)):
            yield


def _problem(where: str, error: Exception) -> CallFailure | None:
    if isinstance(error, ClientError):
        return CloudError(f"{where}: {error.response['Error']['Message']}"), error.response["Error"]["Code"]
    if isinstance(error, BotoCoreError):
        kind = AnswerLostError if isinstance(error, ANSWER_LOST) else CloudError
        return kind(f"{where}: {error}"), UNREACHABLE
    return None


def _machines(described: dict[str, Any]) -> Iterator[Machine]:
    for one in described["Instances"]:
        if state := STATES.get(one["LifecycleState"]):
            yield Machine(one["InstanceId"], provider_ids.aws(one["AvailabilityZone"], one["InstanceId"]), state)


def _failures(activities: list[dict[str, Any]], now: float) -> Iterator[Failure]:
    for one in activities:
        # Those of machines that would not end are no refusals.
        if not one["Description"].startswith(LAUNCH):
            continue
        began, state = one["StartTime"].timestamp(), one["StatusCode"]
        if state == "Failed":
            ended = one.get("EndTime") or one["StartTime"]
            yield Failure(ended.timestamp(), one.get("StatusMessage") or one["Description"])
        elif state in SPOT_STATES and now - began > SPOT_SECONDS:
            yield Failure(now, f"No spot capacity for {SPOT_SECONDS} s: {one['Description']}")
