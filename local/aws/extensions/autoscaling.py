"""Scaling groups as AWS runs them: spread over zones, bounded, with activities that tell what was refused.

EC2 Auto Scaling user guide: "Distribute instances across Availability Zones", "Troubleshoot: EC2 instance launch
failures"; API: SetDesiredCapacity, DeleteAutoScalingGroup (ForceDelete), DescribeScalingActivities.
"""

import uuid
from collections import Counter
from typing import Any

from moto.autoscaling.exceptions import AutoscalingClientError, ValidationError
from moto.autoscaling.models import ASG_NAME_TAG, FakeAutoScalingGroup, InstanceState
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError

from .. import faults
from .patching import override

KEPT_ACTIVITIES = 1_000
# Refusals of one launch, which stand in the activities; any other of a group's first launch is its maker's to see.
REFUSALS = ("InsufficientFreeAddressesInSubnet", "InvalidNetworkInterface.InUse")


def install() -> None:
    _spread()
    _bound()
    _activities()


def _spread() -> None:
    @override(FakeAutoScalingGroup, "replace_autoscaling_group_instances")
    def replace(self: Any, original: Any, count_needed: int, propagated_tags: dict[str, str]) -> None:
        """One launch at a time, each where the group has fewest, so that a refusal stops that one alone."""
        ec2 = self.autoscaling_backend.ec2_backend
        names = [name for name in (self.vpc_zone_identifier or "").split(",") if name]
        places = [(name, ec2.get_subnet(name).availability_zone) for name in names]
        places = places or [(None, zone) for zone in self.availability_zones]
        whole = self.vpc_zone_identifier, self.availability_zones
        running = _running(ec2, self.instance_type)
        for _ in range(count_needed):
            staying = [state for state in self.instance_states if not state.lifecycle_state.startswith("Terminating")]
            mine = Counter(state.instance.placement.zone for state in staying)
            subnet, zone = min(places, key=lambda place: (mine[place[1]], places.index(place)))
            if message := faults.refusal(ec2.region_name, self.instance_type, zone, running):
                _record(self, "Failed", "Launching a new EC2 instance.  Status Reason: " + message, message)
                continue
            self.vpc_zone_identifier, self.availability_zones = subnet, [zone]
            try:
                _launch(self, original, subnet, zone, propagated_tags)
            except EC2ClientError as error:
                if error.code not in REFUSALS and self.name not in self.autoscaling_backend.autoscaling_groups:
                    raise
                failed = f"Launching a new EC2 instance.  Status Reason: {error.message} Launching EC2 instance failed."
                _record(self, "Failed", failed, f"{error.message} Launching EC2 instance failed.")
                continue
            finally:
                self.vpc_zone_identifier, self.availability_zones = whole
            running[zone] += 1
            _record(self, "Successful", f"Launching a new EC2 instance: {self.instance_states[-1].instance.id}", None)


def _launch(group: Any, original: Any, subnet: str | None, zone: str, tags: dict[str, str]) -> None:
    """With the version of the template that the group names; moto always takes the default one.

    A tag of the group overrides the template's ("Tag Auto Scaling groups and instances").
    """
    if group.ec2_launch_template is None:
        original(1, dict(tags))
        return
    ec2, template = group.autoscaling_backend.ec2_backend, group.ec2_launch_template
    version = template.get_version(group.launch_template_version)
    made = ec2.run_instances(
        version.image_id,
        1,
        None,
        [],
        instance_type=version.instance_type,
        is_instance_type_default=False,
        launch_template={"LaunchTemplateId": template.id, "Version": str(version.number)},
        tags={"instance": {**tags, ASG_NAME_TAG: group.name}},
        placement=zone,
        subnet_id=subnet,
        region_name=ec2.region_name,
        associate_public_ip=None,
    )
    (instance,) = made.instances
    instance.autoscaling_group = group
    # "If specified, these parameters override those in the launch template" (CreateAutoScalingGroup).
    instance.placement.group_name = group.placement_group or instance.placement.group_name
    state = InstanceState(instance, protected_from_scale_in=group.new_instances_protected_from_scale_in)
    named = {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name, "Version": str(version.number)}
    vars(state)["template"] = named
    group.instance_states.append(state)


def _running(ec2: Any, instance_type: str) -> Counter[str]:
    instances = (instance for reservation in ec2.reservations.values() for instance in reservation.instances)
    live = (i for i in instances if i.instance_type == instance_type and i.state in ("running", "pending"))
    return Counter(instance.placement.zone for instance in live)


def _record(group: Any, status: str, description: str, message: str | None) -> None:
    now = utcnow()
    activity = {
        "ActivityId": str(uuid.uuid4()),
        "AutoScalingGroupName": group.name,
        "Description": description,
        "Cause": f"At {now:%Y-%m-%dT%H:%M:%SZ} a difference between desired and actual capacity required a launch.",
        "StartTime": now,
        "EndTime": now,
        "StatusCode": status,
        "Progress": 100,
        "Details": "{}",
    }
    if message:
        activity["StatusMessage"] = message
    activities = vars(group).setdefault("activities", [])
    activities.insert(0, activity)
    del activities[KEPT_ACTIVITIES:]


def _bound() -> None:
    # At the call, not in the backend: a group that is deleted goes to 0 whatever its minimum.
    @override(AutoScalingResponse, "set_desired_capacity")
    def set_desired_capacity(self: Any, original: Any) -> Any:
        group = self.autoscaling_backend.autoscaling_groups.get(self._get_param("AutoScalingGroupName"))
        desired = self._get_int_param("DesiredCapacity")
        if group is None:
            raise ValidationError("AutoScalingGroup name not found - null")
        if group.min_size <= desired <= group.max_size:
            return original()
        bound = f"above max value {group.max_size}" if desired > group.max_size else f"below min value {group.min_size}"
        raise ValidationError(f"New SetDesiredCapacity value {desired} is {bound} for the AutoScalingGroup.")

    @override(AutoScalingResponse, "delete_auto_scaling_group")
    def delete_auto_scaling_group(self: Any, original: Any) -> Any:
        group = self.autoscaling_backend.autoscaling_groups.get(self._get_param("AutoScalingGroupName"))
        if group and group.instance_states and not self._get_bool_param("ForceDelete", if_none=False):
            message = "You cannot delete an AutoScalingGroup while there are instances still in the group."
            raise AutoscalingClientError("ResourceInUse", message)
        return original()


def _activities() -> None:
    @override(AutoScalingResponse, "describe_scaling_activities")
    def describe_scaling_activities(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        name = self._get_param("AutoScalingGroupName")
        groups = self.autoscaling_backend.autoscaling_groups.values()
        activities = [a for group in groups if name in (None, group.name) for a in vars(group).get("activities", [])]
        activities.sort(key=lambda activity: activity["StartTime"], reverse=True)
        start, most = int(self._get_param("NextToken") or 0), self._get_int_param("MaxRecords", 100)
        page: dict[str, Any] = {"Activities": activities[start : start + most]}
        if len(activities) > start + most:
            page["NextToken"] = str(start + most)
        return ActionResult(page)
