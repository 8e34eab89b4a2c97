"""Settings of scaling groups that moto takes and forgets: bounds, processes that stand still, what an update changes.

EC2 Auto Scaling API: CreateAutoScalingGroup, UpdateAutoScalingGroup, SuspendProcesses, ResumeProcesses, Instance
(LaunchTemplate); user guide: "Suspend and resume Amazon EC2 Auto Scaling processes".
"""

from collections.abc import Callable
from typing import Any

from moto.autoscaling.exceptions import AutoscalingClientError, ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState
from moto.autoscaling.responses import AutoScalingResponse

from .patching import override

# Parameter of UpdateAutoScalingGroup → attribute of moto's group, for those that moto leaves as they were.
UPDATED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "TerminationPolicies": ("termination_policies", list),
    "DefaultCooldown": ("default_cooldown", int),
    "PlacementGroup": ("placement_group", str),
    "CapacityRebalance": ("capacity_rebalance", bool),
    "Context": ("context", str),
    "DefaultInstanceWarmup": ("default_instance_warmup", int),
    "MaxInstanceLifetime": ("max_instance_lifetime", int),
}


def install() -> None:
    """Puts the rules into groups and their calls."""
    _bounds()
    _processes()
    InstanceState.launch_template = property(lambda state: vars(state).get("template"))


def suspended(group: Any, process: str) -> bool:
    """Whether one of a group's processes stands still."""
    return process in group._suspended_processes


def _bounds() -> None:
    @override(AutoScalingResponse, "create_auto_scaling_group")
    def create(self: Any, original: Any) -> Any:
        low, high = self._get_int_param("MinSize"), self._get_int_param("MaxSize")
        _check(low, high, self._get_int_param("DesiredCapacity"))
        name = self._get_param("AutoScalingGroupName")
        if name in self.autoscaling_backend.autoscaling_groups:
            message = f"AutoScalingGroup by this name already exists - A group with the name {name} already exists"
            raise AutoscalingClientError("AlreadyExists", message)
        answer = original()
        _keep(self, self.autoscaling_backend.autoscaling_groups[name])
        return answer

    @override(AutoScalingResponse, "update_auto_scaling_group")
    def update(self: Any, original: Any) -> Any:
        group = self.autoscaling_backend.autoscaling_groups.get(self._get_param("AutoScalingGroupName"))
        if group:
            given = [self._get_int_param(name) for name in ("MinSize", "MaxSize")]
            low, high = (new if new is not None else old for new, old in zip(given, _size(group), strict=True))
            _check(low, high, self._get_int_param("DesiredCapacity"))
        answer = original()
        _keep(self, group)
        return answer


def _size(group: Any) -> tuple[int, int]:
    return group.min_size, group.max_size


def _check(low: int, high: int, desired: int | None) -> None:
    if low > high:
        raise ValidationError(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if desired is not None and not low <= desired <= high:
        message = f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}"
        raise ValidationError(message)


def _keep(response: Any, group: Any) -> None:
    for name, (attribute, convert) in UPDATED.items():
        if (value := response._get_param(name)) is not None:
            setattr(group, attribute, convert(value))


def _processes() -> None:
    @override(FakeAutoScalingGroup, "replace_autoscaling_group_instances")
    def launch(self: Any, original: Any, count: int, tags: dict[str, str]) -> None:
        if not suspended(self, "Launch"):
            original(count, tags)

    @override(FakeAutoScalingGroup, "set_desired_capacity")
    def set_desired_capacity(self: Any, original: Any, new_capacity: int | None) -> None:
        wanted = self.min_size if new_capacity is None else new_capacity
        if suspended(self, "Terminate") and wanted < len(self.active_instances()):
            self.desired_capacity = wanted
            return
        original(new_capacity)

    @override(AutoScalingBackend, "update_attached_target_groups")
    def update_attached_target_groups(self: Any, original: Any, group_name: str) -> None:
        if not suspended(self.autoscaling_groups[group_name], "AddToLoadBalancer"):
            original(group_name)

    @override(AutoScalingBackend, "resume_processes")
    def resume_processes(self: Any, original: Any, group_name: str, *args: Any, **given: Any) -> None:
        """What was held back meanwhile happens now."""
        original(group_name, *args, **given)
        group = self.autoscaling_groups[group_name]
        group.set_desired_capacity(group.desired_capacity)

    @override(AutoScalingBackend, "delete_auto_scaling_group")
    def delete_auto_scaling_group(self: Any, original: Any, group_name: str) -> None:
        """ForceDelete "will delete the group along with all instances associated with the group"."""
        if group := self.autoscaling_groups.get(group_name):
            group.suspended_processes = []
        original(group_name)
