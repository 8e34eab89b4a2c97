"""CompleteLifecycleAction and RecordLifecycleActionHeartbeat, and timeouts (EC2 Auto Scaling API reference).

Timeouts take effect at the next call to EC2 or Auto Scaling: nobody can see the difference.
"""

from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import autoscaling_backends
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import BaseResponse, EmptyResult

from .. import clock
from . import hooks, lifecycle
from .patching import add, override

SEES_INSTANCES = ("autoscaling", "ec2")


def install() -> None:
    """Adds the two calls, and has timeouts looked at before every call that shows instances."""

    @override(BaseResponse, "call_action")
    def call_action(self: Any, original: Any) -> Any:
        if self.service_name in SEES_INSTANCES:
            lifecycle.settle(autoscaling_backends[self.current_account][self.region])
        return original()

    @add(AutoScalingResponse)
    def complete_lifecycle_action(self: Any) -> EmptyResult:
        group, state, name = _pending_action(self)
        result = self._get_param("LifecycleActionResult")
        if result not in hooks.RESULTS:
            raise ValidationError(f"Lifecycle action result must be one of {', '.join(hooks.RESULTS)}")
        lifecycle.complete(group, state, name, result)
        return EmptyResult()

    @add(AutoScalingResponse)
    def record_lifecycle_action_heartbeat(self: Any) -> EmptyResult:
        _, state, name = _pending_action(self)
        lifecycle.actions(state)[name].beat(clock.now())
        return EmptyResult()


def _pending_action(response: Any) -> tuple[Any, Any, str]:
    """The action that a call names by its token or by its instance. Raises ValidationError when there is none."""
    group_name, name = response._get_param("AutoScalingGroupName"), response._get_param("LifecycleHookName")
    group = response.autoscaling_backend.autoscaling_groups.get(group_name)
    if group is None:
        raise ValidationError(f"AutoScalingGroup name not found - AutoScalingGroup '{group_name}' not found")
    token, instance = response._get_param("LifecycleActionToken"), response._get_param("InstanceId")
    for state in group.instance_states:
        action = lifecycle.actions(state).get(name)
        if action and (action.token == token if token else state.instance.id == instance):
            return group, state, name
    named = f"token {token}" if token else f"instance ID {instance}"
    raise ValidationError(f"No active Lifecycle Action found with {named}")
