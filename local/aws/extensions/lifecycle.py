"""Instances wait for their lifecycle hooks: Pending:Wait, Terminating:Wait, and what moves them on.

EC2 Auto Scaling user guide: "Amazon EC2 Auto Scaling lifecycle hooks", "How lifecycle hooks work", "Complete a
lifecycle action"; API: CompleteLifecycleAction, DeleteLifecycleHook, DeleteAutoScalingGroup.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, TerminateInstanceActivity
from moto.core.utils import utcnow
from moto.ec2.models import EC2Backend
from moto.elbv2.exceptions import TargetGroupNotFoundError

from .. import clock
from . import hooks
from .patching import override

WAITS = {hooks.LAUNCHING: "Pending:Wait", hooks.TERMINATING: "Terminating:Wait"}
# Instances that a group's scale-in would have terminated at once; None outside of one.
_withheld: ContextVar[list[str] | None] = ContextVar("withheld", default=None)
_settling = threading.RLock()


@dataclass
class Action:
    """One instance waiting for one hook. `deadline` moves with each heartbeat, but never past `end`."""

    hook: Any
    started: float
    token: str = field(default_factory=lambda: str(uuid.uuid4()))
    deadline: float = 0.0

    @property
    def end(self) -> float:
        return self.started + float(self.hook.global_timeout)

    def beat(self, now: float) -> None:
        """It "extends the timeout by the length of time defined using PutLifecycleHook"."""
        self.deadline = min(now + self.hook.heartbeat_timeout, self.end)


def install() -> None:
    """Puts the waiting into groups, launches, terminations and calls."""
    hooks.install()
    _count()
    _launch()
    _terminate()
    _delete()


def actions(state: Any) -> dict[str, Action]:
    """The actions that an instance waits for, by hook."""
    found: dict[str, Action] = vars(state).setdefault("lifecycle_actions", {})
    return found


def begin(group: Any, state: Any, transition: str) -> None:
    """An instance starts on a transition: it waits for every hook that the group has for it, or for none."""
    backend = group.autoscaling_backend
    mine = [h for h in backend.describe_lifecycle_hooks(group.name) if h.lifecycle_transition == transition]
    actions(state).clear()
    if mine and transition == hooks.TERMINATING:
        # "The terminating instance is first deregistered from the load balancer."
        for arn in group.target_group_arns:
            with suppress(TargetGroupNotFoundError):
                backend.elbv2_backend.deregister_targets(arn, [{"Id": state.instance.id}])
    state.lifecycle_state = WAITS[transition]
    for hook in mine:
        action = actions(state)[hook.name] = Action(hook, clock.now())
        action.beat(action.started)
        origin, destination = hooks.WAY[transition]
        hooks.tell(
            backend,
            hook,
            LifecycleActionToken=action.token,
            LifecycleHookName=hook.name,
            EC2InstanceId=state.instance.id,
            LifecycleTransition=transition,
            Origin=origin,
            Destination=destination,
        )
    if not mine:
        _proceed(group, state)
    elif transition == hooks.LAUNCHING:
        _note(group, state, "MidLifecycleAction", 40)


def complete(group: Any, state: Any, name: str, result: str, why: str = "") -> None:
    """ABANDON "stops any remaining actions, such as other lifecycle hooks"; CONTINUE lets the others complete."""
    action = actions(state).pop(name)
    if result == "ABANDON" and state.lifecycle_state == WAITS[hooks.LAUNCHING]:
        actions(state).clear()
        why = why or "Lifecycle Action Completed with ABANDON Result"
        message = (
            f"Instance failed to complete user's Lifecycle Action: Lifecycle Action with token {action.token} was "
        )
        _note(group, state, "Cancelled", 100, f"{message}abandoned: {why}")
        _gone(group, state)
        group.set_desired_capacity(group.desired_capacity)  # launches its replacement
        return
    if result == "ABANDON":
        actions(state).clear()
    if not actions(state):
        _proceed(group, state)


def settle(backend: AutoScalingBackend) -> None:
    """Applies the default result of every hook whose time is over."""
    with _settling:
        waiting = [(group, state) for group in backend.autoscaling_groups.values() for state in group.instance_states]
        for group, state in waiting:
            for name, action in list(actions(state).items()):
                if name in actions(state) and clock.now() >= action.deadline:
                    complete(group, state, name, action.hook.default_result, "Heartbeat Timeout")


def _proceed(group: Any, state: Any) -> None:
    """:Proceed lasts no time here."""
    if state.lifecycle_state == WAITS[hooks.TERMINATING]:
        _gone(group, state)
        return
    state.lifecycle_state = "InService"
    _note(group, state, "Successful", 100)
    if group.name in group.autoscaling_backend.autoscaling_groups:
        group.autoscaling_backend.update_attached_elbs(group.name)
        group.autoscaling_backend.update_attached_target_groups(group.name)


def _gone(group: Any, state: Any) -> None:
    group.instance_states = [other for other in group.instance_states if other is not state]
    group.autoscaling_backend.ec2_backend.terminate_instances([state.instance.id])


def _note(group: Any, state: Any, status: str, progress: int, message: str | None = None) -> None:
    """What the launch's activity tells, if it has one."""
    for activity in vars(group).get("activities", []):
        if activity["Description"] == f"Launching a new EC2 instance: {state.instance.id}":
            activity.update(StatusCode=status, Progress=progress, EndTime=utcnow() if progress == 100 else None)
            if message:
                activity["StatusMessage"] = message


@contextmanager
def _only(group: Any, *out: str) -> Iterator[None]:
    """Hides the instances of these states from moto, which knows no waiting."""
    hidden = [state for state in group.instance_states if state.lifecycle_state in out]
    group.instance_states = [state for state in group.instance_states if state not in hidden]
    try:
        yield
    finally:
        group.instance_states += hidden


def _count() -> None:
    @override(FakeAutoScalingGroup, "active_instances")
    def active_instances(self: Any, original: Any) -> list[Any]:
        """A launch that waits counts, or the group would launch another in its place."""
        return [*original(), *(s for s in self.instance_states if s.lifecycle_state == WAITS[hooks.LAUNCHING])]

    for name in ("update_attached_elbs", "update_attached_target_groups"):

        @override(AutoScalingBackend, name)
        def attached(self: Any, original: Any, group_name: str) -> None:
            """Who waits gets no traffic."""
            with _only(self.autoscaling_groups[group_name], *WAITS.values()):
                original(group_name)


def _launch() -> None:
    @override(FakeAutoScalingGroup, "replace_autoscaling_group_instances")
    def replace(self: Any, original: Any, count_needed: int, propagated_tags: dict[str, str]) -> None:
        before = list(self.instance_states)
        original(count_needed, propagated_tags)
        if any(h.lifecycle_transition == hooks.LAUNCHING for h in _hooks_of(self)):
            for state in [state for state in self.instance_states if state not in before]:
                begin(self, state, hooks.LAUNCHING)


def _hooks_of(group: Any) -> list[Any]:
    return list(group.autoscaling_backend.describe_lifecycle_hooks(group.name))


def _terminate() -> None:
    @override(EC2Backend, "terminate_instances")
    def terminate_instances(self: Any, original: Any, instance_ids: list[str]) -> Any:  # noqa: ARG001
        withheld = _withheld.get()
        if withheld is None:
            return original(instance_ids)
        withheld.extend(instance_ids)
        return []

    @override(FakeAutoScalingGroup, "set_desired_capacity")
    def set_desired_capacity(self: Any, original: Any, new_capacity: int | None) -> None:
        withheld: list[str] = []
        before = list(self.instance_states)
        with _only(self, WAITS[hooks.TERMINATING]):
            outer = _withheld.set(withheld)
            try:
                original(new_capacity)
            finally:
                _withheld.reset(outer)
        leaving = [state for state in before if state.instance.id in withheld]
        self.instance_states += leaving
        for state in leaving:
            begin(self, state, hooks.TERMINATING)

    @override(AutoScalingBackend, "terminate_instance")
    def terminate_instance(self: Any, original: Any, instance_id: str, should_decrement: bool) -> Any:  # noqa: ARG001, FBT001
        group, state = _instance(self, instance_id)
        before = group.desired_capacity
        if should_decrement:
            if before <= group.min_size:
                raise ValidationError(
                    "Currently, desiredSize equals minSize. Terminating instance without replacement will violate "
                    f"group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower "
                    f"group's min size. Group: {group.name}"
                )
            group.desired_capacity -= 1
        begin(group, state, hooks.TERMINATING)
        group.set_desired_capacity(group.desired_capacity)
        return TerminateInstanceActivity(state.instance, before)


def _instance(backend: Any, instance_id: str) -> tuple[Any, Any]:
    for group in backend.autoscaling_groups.values():
        for state in group.instance_states:
            if state.instance.id == instance_id:
                return group, state
    raise ValidationError(f"Instance Id not found - No managed instance found for instance ID {instance_id}")


def _delete() -> None:
    @override(AutoScalingBackend, "delete_auto_scaling_group")
    def delete_auto_scaling_group(self: Any, original: Any, group_name: str) -> None:
        """ForceDelete "also deletes any outstanding lifecycle actions associated with the group"."""
        hooks.forget(self, group_name)
        if group := self.autoscaling_groups.get(group_name):
            for state in list(group.instance_states):
                state.protected_from_scale_in = False
                if state.lifecycle_state == WAITS[hooks.TERMINATING]:
                    _gone(group, state)
        original(group_name)

    @override(AutoScalingBackend, "delete_lifecycle_hook")
    def delete_lifecycle_hook(self: Any, original: Any, as_name: str, name: str) -> None:
        """Outstanding actions "are completed first (ABANDON for launching instances, CONTINUE for terminating
        instances)".
        """
        hook = self.lifecycle_hooks.get(f"{as_name}_{name}")
        if hook is None:
            raise ValidationError(f"No Lifecycle Hook found with name {name}")
        original(as_name, name)
        group = self.autoscaling_groups.get(as_name)
        for state in list(group.instance_states) if group else []:
            if name in actions(state):
                complete(group, state, name, "ABANDON" if hook.lifecycle_transition == hooks.LAUNCHING else "CONTINUE")
