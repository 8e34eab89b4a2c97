"""Lifecycle hooks as they are kept and told: in PutLifecycleHook, in CreateAutoScalingGroup, to queue or topic.

EC2 Auto Scaling API: PutLifecycleHook, LifecycleHookSpecification; user guide: "Prepare to add a lifecycle hook",
section on the messages that a notification target gets.
"""

import json
import uuid
from datetime import UTC, datetime
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend
from moto.autoscaling.responses import AutoScalingResponse
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from .. import clock
from .patching import override

LAUNCHING, TERMINATING = "autoscaling:EC2_INSTANCE_LAUNCHING", "autoscaling:EC2_INSTANCE_TERMINATING"
TRANSITIONS = (LAUNCHING, TERMINATING)
RESULTS = ("CONTINUE", "ABANDON")
# API reference, LifecycleHook: HeartbeatTimeout "from 30 to 7200 seconds", GlobalTimeout at most 48 hours.
HEARTBEATS = (30, 7_200)
LONGEST_WAIT = 172_800
WAY = {LAUNCHING: ("EC2", "AutoScalingGroup"), TERMINATING: ("AutoScalingGroup", "EC2")}


def install() -> None:
    """Keeps hooks as they were given and lets a group be created with them."""

    @override(AutoScalingResponse, "put_lifecycle_hook")
    def put_lifecycle_hook(self: Any, original: Any) -> Any:
        name, group = self._get_param("LifecycleHookName"), self._get_param("AutoScalingGroupName")
        _known(self.autoscaling_backend, group)
        checked(self.params)
        answer = original()
        _keep(self.autoscaling_backend, group, name, self.params)
        return answer

    @override(AutoScalingResponse, "create_auto_scaling_group")
    def create_auto_scaling_group(self: Any, original: Any) -> Any:
        """The hooks are there before the first launch, which they hold."""
        backend, group = self.autoscaling_backend, self._get_param("AutoScalingGroupName")
        wanted = self._get_param("LifecycleHookSpecificationList", [])
        for given in wanted:
            checked(given)
        if group in backend.autoscaling_groups:
            return original()
        for given in wanted:
            times = (
                int(given["HeartbeatTimeout"]) if "HeartbeatTimeout" in given else None,
                given.get("DefaultResult"),
            )
            backend.create_lifecycle_hook(given["LifecycleHookName"], group, given["LifecycleTransition"], *times)
            _keep(backend, group, given["LifecycleHookName"], given)
        try:
            return original()
        finally:
            if group not in backend.autoscaling_groups:
                forget(backend, group)


def checked(given: dict[str, Any]) -> None:
    """Raises ValidationError for a hook that AWS would refuse."""
    low, high = HEARTBEATS
    if given.get("LifecycleTransition", LAUNCHING) not in TRANSITIONS:
        raise ValidationError(f"Invalid lifecycle transition specified: must be one of {', '.join(TRANSITIONS)}")
    if given.get("DefaultResult", "ABANDON") not in RESULTS:
        raise ValidationError(f"Invalid default result specified: must be one of {', '.join(RESULTS)}")
    if not low <= int(given.get("HeartbeatTimeout", high)) <= high:
        raise ValidationError(f"Invalid heartbeat timeout specified: must be between {low} and {high} seconds")


def forget(backend: AutoScalingBackend, group: str) -> None:
    """A group's hooks go with it."""
    for hook in backend.describe_lifecycle_hooks(group):
        backend.lifecycle_hooks.pop(f"{group}_{hook.name}", None)


def tell(backend: AutoScalingBackend, hook: Any, **message: str) -> None:
    """Sends the hook's target a message; a target that is gone gets none, as AWS goes on without it, too."""
    if not hook.notification_target_arn:
        return
    body: dict[str, Any] = {
        "Service": "AWS Auto Scaling",
        "Time": datetime.fromtimestamp(clock.now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "RequestId": str(uuid.uuid4()),
        "AccountId": backend.account_id,
        "AutoScalingGroupName": hook.auto_scaling_group_name,
        **message,
    }
    if hook.notification_metadata:
        body["NotificationMetadata"] = hook.notification_metadata
    _, _, service, region, account, name = hook.notification_target_arn.split(":", 5)
    if service == "sqs" and name in (queues := sqs_backends[account][region]).queues:
        queues.send_message(name, json.dumps(body))
    elif service == "sns" and hook.notification_target_arn in (topics := sns_backends[account][region]).topics:
        topics.publish(json.dumps(body), arn=hook.notification_target_arn, subject=f"Auto Scaling: {hook.name}"[:99])


def _known(backend: AutoScalingBackend, group: str) -> None:
    if group not in backend.autoscaling_groups:
        raise ValidationError(f"AutoScalingGroup name not found - AutoScalingGroup '{group}' not found")


def _keep(backend: AutoScalingBackend, group: str, name: str, given: dict[str, Any]) -> None:
    hook: Any = backend.lifecycle_hooks[f"{group}_{name}"]
    hook.role_arn, hook.notification_target_arn = given.get("RoleARN"), given.get("NotificationTargetARN")
    hook.notification_metadata = given.get("NotificationMetadata")
    # "The maximum is 172800 seconds (48 hours) or 100 times HeartbeatTimeout, whichever is smaller."
    hook.global_timeout = min(LONGEST_WAIT, 100 * hook.heartbeat_timeout)
    tell(backend, hook, Event="autoscaling:TEST_NOTIFICATION")
