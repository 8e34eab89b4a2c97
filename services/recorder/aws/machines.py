"""What EC2 says of machines whose nodes fell silent or went: few calls, each of many machines of a region."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from evidence.aws import machines
from evidence.observation import Observation

from ..errors import CloudError
from .clients import client

GROUP = "aws:autoscaling:groupName"
# A filter takes 200 values; and a hundred activities of a group are those of its last changes.
AT_ONCE, ACTIVITIES = 200, 100


class Region:
    """One thread calls it."""

    def __init__(self, region: str) -> None:
        self.region = region
        self.ec2, self.groups = (client(one, region, attempts=2) for one in ("ec2", "autoscaling"))

    def ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        """`nodes` by their machines' names. Second are the machines of which there is no more to say.

        Raises CloudError.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        seen: list[Observation] = []
        done: set[str] = set()
        try:
            for first in range(0, len(nodes), AT_ONCE):
                names = sorted(nodes)[first : first + AT_ONCE]
                more, over = self._ask({name: nodes[name] for name in names}, now)
                seen, done = [*seen, *more], done | over
            return seen, done
        except (BotoCoreError, ClientError, OSError) as error:
            raise CloudError(f"{self.region}: {error}") from None

    def _ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        # By a filter: an id that EC2 has forgotten would fail the whole call.
        found = [*self._instances([*nodes])]
        seen: list[Observation] = []
        for one in self._status([one["InstanceId"] for one in found]):
            seen += machines.of_status(one, nodes[one["InstanceId"]])
        down = {str(one["InstanceId"]): one for one in found if machines.is_down(one)}
        for name, one in down.items():
            seen += machines.of_instance(one, nodes[name], now)
        for group in sorted({_group(one) for one in down.values()} - {""}):
            for activity in self._activities(group):
                for name, one in down.items():
                    if told := machines.of_activity(activity, one, nodes[name]):
                        seen.append(told)
        gone = {*nodes} - {str(one["InstanceId"]) for one in found}
        return seen, {*down, *gone}

    def _instances(self, names: Collection[str]) -> Iterator[Mapping[str, Any]]:
        wanted = [{"Name": "instance-id", "Values": sorted(names)}]
        for page in self.ec2.get_paginator("describe_instances").paginate(Filters=wanted):
            for one in page["Reservations"]:
                yield from one["Instances"]

    def _status(self, names: Collection[str]) -> list[Mapping[str, Any]]:
        if not names:
            return []
        told = self.ec2.describe_instance_status(InstanceIds=sorted(names), IncludeAllInstances=True)
        return list(told["InstanceStatuses"])

    def _activities(self, group: str) -> list[Mapping[str, Any]]:
        told = self.groups.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=ACTIVITIES)
        return list(told["Activities"])


def _group(instance: Mapping[str, Any]) -> str:
    return next((str(one["Value"]) for one in instance.get("Tags") or [] if one["Key"] == GROUP), "")
