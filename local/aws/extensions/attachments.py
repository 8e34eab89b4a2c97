"""Volumes and interfaces that machines take and give back: in their own zone, one at a time, kept when they go.

EC2 API: AttachVolume, DetachVolume, ModifyVolume, AttachNetworkInterface, DetachNetworkInterface; "Error codes for the
Amazon EC2 API": VolumeInUse, InvalidVolume.ZoneMismatch, IncorrectState, InvalidNetworkInterface.InUse. moto attaches
anything to anything, and an interface that outlives its instance stays in use for ever.
"""

import copy
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ec2.models.instances import Instance
from moto.ec2.responses import EC2Response

from .patching import override

ATTACHABLE = ("running", "stopped")


def install() -> None:
    """Puts the rules before each call."""
    _attach_volumes()
    _detach_volumes()
    _attach_interfaces()
    _keep_interfaces()
    # An interface has its own groups; moto adds those of the instance that it is attached to.
    NetworkInterface.group_set = property(lambda self: list(dict.fromkeys(self._group_set)))


def _check_state(instance: Any) -> None:
    if instance.state not in ATTACHABLE:
        raise EC2ClientError("IncorrectState", f"Instance '{instance.id}' is not 'running'.")


def _attach_volumes() -> None:
    @override(EC2Backend, "attach_volume")
    def attach_volume(self: Any, original: Any, volume_id: str, instance_id: str, device: str, *args: Any) -> Any:
        volume, instance = self.get_volume(volume_id), self.get_instance(instance_id)
        _check_state(instance)
        if volume.attachment:
            raise EC2ClientError("VolumeInUse", f"{volume_id} is already attached to an instance")
        if volume.availability_zone != instance.placement.zone:
            message = f"The volume '{volume_id}' is not in the same availability zone as instance '{instance_id}'"
            raise EC2ClientError("InvalidVolume.ZoneMismatch", message)
        if device in instance.block_device_mapping:
            message = f"Invalid value '{device}' for unixDevice. Attachment point {device} is already in use"
            raise EC2ClientError("InvalidParameterValue", message)
        return original(volume_id, instance_id, device, *args)

    @override(EC2Backend, "modify_volume")
    def modify_volume(
        self: Any, original: Any, volume_id: str, target_size: Any = None, *args: Any, **more: Any
    ) -> Any:
        if target_size and int(target_size) < int(self.get_volume(volume_id).size):
            raise EC2ClientError("InvalidParameterValue", "New size cannot be smaller than existing size")
        return original(volume_id, target_size, *args, **more)


def _detach_volumes() -> None:
    @override(EC2Backend, "detach_volume")
    def detach_volume(self: Any, original: Any, volume_id: str, instance_id: str | None, device: Any) -> Any:
        volume = self.get_volume(volume_id)
        if not volume.attachment:
            raise EC2ClientError("IncorrectState", f"Volume '{volume_id}' is in the 'available' state.")
        instance = volume.attachment.instance
        if instance_id and instance_id != instance.id:
            message = f"The volume '{volume_id}' is not attached to instance '{instance_id}'."
            raise EC2ClientError("InvalidAttachment.NotFound", message)
        return original(volume_id, instance.id, device)

    @override(EC2Response, "detach_volume")
    def asked(self: Any, original: Any) -> Any:
        volume = self.ec2_backend.get_volume(self._get_param("VolumeId"))
        attachment = volume.attachment
        if (
            attachment
            and attachment.device == attachment.instance.root_device_name
            and attachment.instance.state == "running"
        ):
            message = f"Unable to detach root volume '{volume.id}' from instance '{attachment.instance.id}'"
            raise EC2ClientError("OperationNotPermitted", message)
        return original()


def _attach_interfaces() -> None:
    @override(EC2Backend, "attach_network_interface")
    def attach(self: Any, original: Any, eni_id: str, instance_id: str, device_index: Any) -> Any:
        interface, instance = self.get_network_interface(eni_id), self.get_instance(instance_id)
        _check_state(instance)
        if interface.status != "available":
            raise EC2ClientError("InvalidNetworkInterface.InUse", f"Interface: [{eni_id}] in use.")
        if interface.subnet.availability_zone != instance.placement.zone:
            message = (
                "You may not attach a network interface to an instance if they are not in the same availability zone"
            )
            raise EC2ClientError("InvalidParameterCombination", message)
        if int(device_index) in instance.nics:
            message = f"Instance '{instance_id}' already has an interface attached at device index '{device_index}'."
            raise EC2ClientError("InvalidParameterValue", message)
        return original(eni_id, instance_id, device_index)

    @override(EC2Response, "create_network_interface")
    def create(self: Any, original: Any) -> Any:
        """moto makes a group of any name that it is given."""
        for name in self._get_param("Groups", []):
            if self.ec2_backend.get_security_group_from_id(name) is None:
                raise EC2ClientError("InvalidGroup.NotFound", f"The security group '{name}' does not exist")
        return original()

    @override(EC2Backend, "detach_network_interface")
    def detach(self: Any, original: Any, attachment_id: str) -> None:
        if any(eni.attachment_id == attachment_id and eni.device_index == 0 for eni in self.enis.values()):
            message = "The network interface at device index 0 cannot be detached."
            raise EC2ClientError("OperationNotPermitted", message)
        original(attachment_id)


def _keep_interfaces() -> None:
    @override(EC2Response, "delete_network_interface")
    def delete(self: Any, original: Any) -> Any:
        interface = self.ec2_backend.get_network_interface(self._get_param("NetworkInterfaceId"))
        if interface.status == "in-use":
            message = f"Network interface '{interface.id}' is currently in use."
            raise EC2ClientError("InvalidNetworkInterface.InUse", message)
        return original()

    @override(Instance, "terminate")
    def terminate(self: Any, original: Any) -> Any:
        """DeleteOnTermination is false for what was attached later: it is there for the next machine to take."""
        staying = [eni for eni in self.nics.values() if not eni.delete_on_termination]
        before = original()
        for eni in staying:
            if eni.instance is self:
                index = eni.device_index
                self.detach_eni(eni)
                # What the instance was stays readable for as long as EC2 shows it.
                self.nics[index] = copy.copy(eni)
        return before
