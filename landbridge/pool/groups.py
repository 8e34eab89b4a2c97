"""Scaling groups of pools as the cloud has them: sizes, machines, and whether their launches fail."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from components.pools.names import Names

from ..cluster.session import Session
from ..errors import LandbridgeError
from .sizes import Group, Machine

PATIENCE = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3, "mode": "standard"})
# AWS takes so many names in one question (DescribeAutoScalingGroups), and any number of ids (DescribeInstances).
NAMES, IDS = 50, 200
# A failure says something about the next launch for so long; while machines are owed, for ever.
JUST = timedelta(minutes=15)
LAUNCH, ACTIVITIES = "Launching a new EC2 instance", 20


class RegionError(LandbridgeError):
    """A region refused or did not answer."""


def chunks(names: Iterable[str], size: int) -> Iterator[list[str]]:
    left = iter(names)
    return iter(lambda: list(islice(left, size)), [])


@contextmanager
def asking(region: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise RegionError(f"{region} does not answer as it should: {error}") from None


def of_region(session: Session, region: str, pools: Collection[str]) -> dict[str, list[Group]]:
    """By pool, in the order of their zones; a pool that is not up has none. Raises RegionError."""
    scaling, names = session.at(region, PATIENCE)("autoscaling"), Names(session.world.fleet)
    wanted = {pool: names.groups(pool) for pool in pools}
    told: dict[str, Mapping[str, Any]] = {}
    with asking(region):
        for some in chunks((name for group in wanted.values() for name in group), NAMES):
            pages = scaling.get_paginator("describe_auto_scaling_groups").paginate(AutoScalingGroupNames=some)
            told |= {one["AutoScalingGroupName"]: one for page in pages for one in page["AutoScalingGroups"]}
        with ThreadPoolExecutor(8) as threads:
            activities = dict(zip(told, threads.map(lambda name: launches(scaling, name), told), strict=True))
    now = datetime.now(UTC)
    return {
        pool: [read(told[name], activities[name], now) for name in groups if name in told]
        for pool, groups in wanted.items()
    }


def launches(scaling: Any, group: str) -> list[Mapping[str, Any]]:
    """The last ones, newest first."""
    told = scaling.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=ACTIVITIES)["Activities"]
    return [one for one in told if one["Description"].startswith(LAUNCH)]


def read(told: Mapping[str, Any], activities: Sequence[Mapping[str, Any]], now: datetime) -> Group:
    """Out of AWS's answers; `activities` are launches, newest first."""
    machines = tuple(
        Machine(one["InstanceId"], one["AvailabilityZone"], one["LifecycleState"], template(one))
        for one in told.get("Instances", ())
    )
    group = Group(told["AutoScalingGroupName"], told["MinSize"], told["MaxSize"], told["DesiredCapacity"], machines)
    failed = next((str(one["ActivityId"]) for one in activities if one["StatusCode"] == "Failed"), "")
    return group._replace(failure=failure(activities, now, owed=group.desired > len(group.live)), failed=failed)


def template(told: Mapping[str, Any]) -> str:
    """The version of the launch template that a machine came of."""
    return str(told.get("LaunchTemplate", {}).get("Version", ""))


def failure(activities: Sequence[Mapping[str, Any]], now: datetime, *, owed: bool) -> str:
    """Why the newest launch failed; empty if it did not, or long ago with no machine owed."""
    if not activities or activities[0]["StatusCode"] != "Failed":
        return ""
    last = activities[0]
    if not owed and now - last.get("EndTime", last["StartTime"]) > JUST:
        return ""
    return str(last.get("StatusMessage") or "AWS does not say why").strip()


def of_pool(session: Session, pool: str) -> list[Group]:
    """Raises LandbridgeError, also for a pool that is not up."""
    region = session.world.fleet.pools[pool].region
    assert region is not None
    found = of_region(session, region, [pool])[pool]
    expected = Names(session.world.fleet).groups(pool)
    if lacking := set(expected) - {group.name for group in found}:
        local = " --local" if session.place.world == "local" else ""
        raise LandbridgeError(
            f"The pool {pool} is not up: {region} has no scaling group {', '.join(sorted(lacking))}. "
            f"Run `landbridge up {pool}{local}`."
        )
    return found


def set_desired(session: Session, region: str, wanted: Mapping[str, int]) -> None:
    """Raises RegionError."""
    scaling = session.at(region)("autoscaling")
    with asking(region):
        for name, number in wanted.items():
            scaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=number)


def instances(session: Session, region: str, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """What EC2 says of those that it still knows. Raises RegionError."""
    ec2, found = session.at(region)("ec2"), dict[str, Mapping[str, Any]]()
    with asking(region):
        for some in chunks(names, IDS):
            chosen = [{"Name": "instance-id", "Values": some}]
            pages = ec2.get_paginator("describe_instances").paginate(Filters=chosen)
            found |= {i["InstanceId"]: i for page in pages for r in page["Reservations"] for i in r["Instances"]}
    return found
