"""Instances that are machines: what the local cloud's machines service keeps alive, ends and finds ill.

An instance that is a machine ends when its machine has: shutting-down until then, with its interface and volumes still
its own (EC2 user guide, "Instance lifecycle"). A volume that a machine has mounted stays "detaching" until it is
unmounted (DetachVolume). An ill machine is impaired, and its scaling group replaces it ("Health checks for instances
in an Auto Scaling group"). A group that could not launch tries again, ever less often.
"""

import base64
import threading
import time
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.core.responses import BaseResponse
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.instances import Instance
from moto.ec2.responses import EC2Response
from moto.elbv2.models import FakeHealthStatus, FakeTargetGroup
from moto.s3.models import S3Backend

from .. import machine_reports
from . import images, lifecycle
from .patching import override
from .scaling_groups import suspended

READS = ("Describe", "Get", "List", "Head", "Lookup", "Search")
LIVE = ("pending", "running", "stopping", "stopped", "shutting-down")
FIRST_RETRY, LONGEST_RETRY = 1.0, 30.0
_retrying = threading.RLock()


def install() -> None:
    """Tells of every write, and has instances end only when their machines have."""
    _tell()
    _end()
    _detach()
    _statuses()


def is_machine(instance: Any) -> bool:
    """Whether an instance has a machine: its user-data is a script, and its image a stand-in's."""
    return user_data(instance).startswith(b"#!") and images.is_stand_in(instance.ec2_backend, instance.image_id)


def user_data(instance: Any) -> bytes:
    try:
        return base64.b64decode(str(instance.user_data or ""))
    except ValueError:
        return b""


def find(instance_id: str) -> Any:
    """An instance of any account and region. Raises KeyError."""
    for regions in list(ec2_backends.values()):
        for backend in list(regions.values()):
            if (found := backend.get_instance_by_id(instance_id)) is not None:
                return found
    raise KeyError(f"there is no instance {instance_id}")


def _tell() -> None:
    @override(BaseResponse, "call_action")
    def call_action(self: Any, original: Any) -> Any:
        try:
            return original()
        finally:
            if not str(self._get_action()).startswith(READS):
                machine_reports.changed()

    for name in ("create_bucket", "delete_bucket"):

        @override(S3Backend, name)
        def changes(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
            try:
                return original(*args, **given)
            finally:
                machine_reports.changed()


def _end() -> None:
    ends = Instance.terminate
    machine_reports.endings.made = lambda id_: ends(find(id_))

    @override(Instance, "terminate")
    def terminate(self: Any, original: Any) -> Any:
        if not machine_reports.kept or self.state == "terminated" or not is_machine(self):
            return original()
        before = self._state.__class__(self._state.name, self._state.code)
        if self.id not in machine_reports.endings:
            machine_reports.endings.put(self.id)
            self._state.name, self._state.code = "shutting-down", 32
        return before

    for name in ("start", "stop", "reboot"):

        @override(Instance, name)
        def act(self: Any, original: Any, *args: Any, name: str = name, **given: Any) -> Any:
            if self.id in machine_reports.endings:
                message = f"The instance '{self.id}' is not in a state from which it can be started or stopped."
                raise EC2ClientError("IncorrectInstanceState", message)
            answer = original(*args, **given)
            if name == "reboot":
                # By which the machines service sees that it is to start once more.
                vars(self)["starts"] = starts(self) + 1
                machine_reports.changed()
            return answer


def starts(instance: Any) -> int:
    """How often it was rebooted."""
    return int(vars(instance).get("starts", 0))


def ended(instance_id: str) -> bool:
    """The machine of a terminated instance is gone: so is the instance, and what it held is free."""
    instance = find(instance_id)
    machine_reports.impaired.pop(instance_id, None)
    done = machine_reports.endings.do(instance_id)
    for group in autoscaling_backends[instance.owner_id][instance.ec2_backend.region_name].autoscaling_groups.values():
        vars(group).pop("retry", None)
    machine_reports.changed()
    return done


def ill(instance_id: str, why: str) -> bool:
    """Its machine died by itself. True if a scaling group replaces the instance."""
    instance = find(instance_id)
    machine_reports.impaired[instance_id] = why
    backend = autoscaling_backends[instance.owner_id][instance.ec2_backend.region_name]
    machine_reports.changed()
    for group in backend.autoscaling_groups.values():
        if instance_id not in [state.instance.id for state in group.instance_states]:
            continue
        if suspended(group, "HealthCheck") or suspended(group, "ReplaceUnhealthy"):
            return False
        backend.terminate_instance(instance_id, should_decrement=False)
        return True
    return False


def retry() -> bool:
    """Has groups launch what they lack. True while one still does."""
    lacking = False
    with _retrying:
        for regions in list(autoscaling_backends.values()):
            for backend in list(regions.values()):
                lifecycle.settle(backend)
                for group in list(backend.autoscaling_groups.values()):
                    lacking = _retry(group) or lacking
    return lacking


def _retry(group: Any) -> bool:
    if suspended(group, "Launch") or len(group.active_instances()) >= int(group.desired_capacity or 0):
        vars(group).pop("retry", None)
        return False
    now = time.time()
    due, pause = vars(group).setdefault("retry", (now, FIRST_RETRY))
    if now >= due:
        vars(group)["retry"] = (now + pause, min(2 * pause, LONGEST_RETRY))
        group.set_desired_capacity(group.desired_capacity)
    return len(group.active_instances()) < int(group.desired_capacity or 0)


def _detach() -> None:
    detach = EC2Backend.detach_volume
    machine_reports.detachments.made = lambda volume, owner, region, *how: detach(
        ec2_backends[owner][region], volume, *how
    )

    @override(EC2Backend, "detach_volume")
    def detach_volume(self: Any, original: Any, volume_id: str, instance_id: str | None, device: Any) -> Any:
        attachment = self.get_volume(volume_id).attachment
        running = (
            attachment
            and attachment.instance.state == "running"
            and attachment.device != attachment.instance.root_device_name
        )
        if (
            not machine_reports.kept
            or not running
            or not is_machine(attachment.instance)
            or volume_id in machine_reports.detachments
        ):
            return original(volume_id, instance_id, device)
        if instance_id and instance_id != attachment.instance.id:
            return original(volume_id, instance_id, device)  # which says what is wrong
        machine_reports.detachments.put(volume_id, self.account_id, self.region_name, instance_id, device)
        attachment.status = "detaching"
        return attachment

    @override(EC2Response, "detach_volume")
    def asked(self: Any, original: Any) -> Any:
        volume = self._get_param("VolumeId")
        answer = original()
        if volume in machine_reports.detachments and str(self._get_param("Force")).lower() == "true":
            machine_reports.forced.add(volume)
        return answer


def detached(volume_id: str) -> bool:
    """No machine holds it any more."""
    machine_reports.forced.discard(volume_id)
    done = machine_reports.detachments.do(volume_id)
    machine_reports.changed()
    return done


def _statuses() -> None:
    healthy = Instance.instance_status.fget

    def instance_status(self: Any) -> Any:
        if self.id in machine_reports.impaired and self.state_code == 16:
            return {"Status": "impaired", "Details": [{"Name": "reachability", "Status": "failed"}]}
        return healthy(self)

    Instance.instance_status = property(instance_status)

    @override(FakeTargetGroup, "health_for")
    def health_for(self: Any, original: Any, target: dict[str, Any], ec2_backend: Any) -> Any:
        found = original(target, ec2_backend)
        if not machine_reports.kept or target["Id"] not in self.targets or found.status != "healthy":
            return found
        port = str(self.targets[target["Id"]].get("Port", self.port))
        status = machine_reports.health.get(self.arn, {}).get(target["Id"])
        if not self.load_balancer_arns:
            status = (
                "unused",
                "Target.NotInUse",
                "Target group is not configured to receive traffic from the load balancer",
            )
        status = status or ("initial", "Elb.RegistrationInProgress", "Target registration is in progress")
        return FakeHealthStatus(target["Id"], port, self.health_check_port, *status)
