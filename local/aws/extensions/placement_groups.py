"""Placement groups, which moto does not have.

EC2 API: CreatePlacementGroup, DescribePlacementGroups, DeletePlacementGroup; EC2 user guide: "Placement groups". Error
codes: InvalidPlacementGroup.Duplicate, .Unknown, .InUse.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.responses import EC2Response
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, EC2_RESOURCE_TO_PREFIX

from .patching import add

STRATEGIES = ("cluster", "partition", "spread")


@dataclass(eq=False)
class PlacementGroup(TaggedEC2Resource):
    """One group, as EC2 describes it."""

    ec2_backend: Any
    id: str
    group_name: str
    strategy: str
    partition_count: int | None
    spread_level: str | None
    state: str = "available"

    @property
    def group_id(self) -> str:
        return self.id

    @property
    def group_arn(self) -> str:
        backend = self.ec2_backend
        return f"arn:aws:ec2:{backend.region_name}:{backend.account_id}:placement-group/{self.group_name}"

    @property
    def tags(self) -> list[dict[str, str]]:
        return [{"Key": tag["key"], "Value": tag["value"]} for tag in self.get_tags()]


def groups(backend: Any) -> dict[str, PlacementGroup]:
    """A region's groups by name."""
    found: dict[str, PlacementGroup] = vars(backend).setdefault("placement_groups", {})
    return found


def install() -> None:
    """Adds the three calls, and lets groups be tagged."""
    EC2_RESOURCE_TO_PREFIX["placement-group"], EC2_PREFIX_TO_RESOURCE["pg"] = "pg", "placement-group"

    @add(EC2Response)
    def create_placement_group(self: Any) -> ActionResult:
        name, strategy = self._get_param("GroupName"), self._get_param("Strategy", "cluster")
        partitions = self._get_int_param("PartitionCount")
        if name in groups(self.ec2_backend):
            raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
        if strategy not in STRATEGIES:
            raise EC2ClientError("InvalidParameterValue", f"Value ({strategy}) for parameter strategy is invalid.")
        if partitions and strategy != "partition":
            message = "PartitionCount is only valid with the partition strategy."
            raise EC2ClientError("InvalidParameterCombination", message)
        level = self._get_param("SpreadLevel", "rack") if strategy == "spread" else None
        count = (partitions or 2) if strategy == "partition" else None
        made = PlacementGroup(self.ec2_backend, f"pg-{secrets.token_hex(8)}0", name, strategy, count, level)
        made.add_tags(self._parse_tag_specification().get("placement-group", {}))
        groups(self.ec2_backend)[name] = made
        return ActionResult({"PlacementGroup": made})

    @add(EC2Response)
    def describe_placement_groups(self: Any) -> ActionResult:
        names, ids = self._get_param("GroupNames", []), self._get_param("GroupIds", [])
        there = groups(self.ec2_backend)
        known = {*there, *(group.id for group in there.values())}
        for unknown in sorted({*names, *ids} - known):
            raise _unknown(unknown)
        found = [g for g in there.values() if (not names and not ids) or g.group_name in names or g.id in ids]
        return ActionResult({"PlacementGroups": found})

    @add(EC2Response)
    def delete_placement_group(self: Any) -> EmptyResult:
        name = self._get_param("GroupName")
        if name not in groups(self.ec2_backend):
            raise _unknown(name)
        live = (i for i in self.ec2_backend.all_instances() if i.state != "terminated")
        if any(instance.placement.group_name == name for instance in live):
            message = f"The placement group '{name}' is in use and may not be deleted."
            raise EC2ClientError("InvalidPlacementGroup.InUse", message)
        del groups(self.ec2_backend)[name]
        return EmptyResult()


def _unknown(name: str) -> EC2ClientError:
    return EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
