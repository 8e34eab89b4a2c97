"""Images that were registered of a snapshot, and their copies: with their disks, tags, states and ends.

EC2 API: RegisterImage, CopyImage, DescribeImages, DisableImage, EnableImage, EnableImageDeprecation,
DisableImageDeprecation, DeregisterImage, DeleteSnapshot; EC2 user guide: "Amazon Machine Images". Error codes:
InvalidAMIName.Duplicate, InvalidAMIName.Malformed, InvalidAMIID.Unavailable, IncorrectState,
IdempotentParameterMismatch. moto makes of any snapshot a new one of nothing, and takes a name twice.
"""

import datetime
import re
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError, InvalidParameterDependency, InvalidSnapshotInUse
from moto.ec2.models import EC2Backend
from moto.ec2.models.amis import Ami
from moto.ec2.responses import EC2Response
from moto.ec2.utils import random_ami_id

from .. import clock
from . import direct_blocks
from .patching import add, override

# How long one is pending; in EC2 a copy takes minutes to an hour.
PENDING_SECONDS = 0.3
NAME = re.compile(r"[\w()\[\] ./\-'@]{3,128}", re.ASCII)
LONGEST = datetime.timedelta(days=3653)
BOOT_MODES = (None, "legacy-bios", "uefi", "uefi-preferred")


def install() -> None:
    """Puts the calls in the place of moto's."""
    _shown()
    _register()
    _copy()
    _states()
    _ends()


def _refuse(code: str, message: str) -> NoReturn:
    raise EC2ClientError(code, message)


def check_name(backend: Any, name: Any) -> None:
    if not NAME.fullmatch(str(name or "")):
        _refuse("InvalidAMIName.Malformed", f"AMI names must be between 3 and 128 characters long: {name}")
    for image in list(backend.amis.values()):
        if image.name == name and image.owner_id == backend.account_id:
            _refuse("InvalidAMIName.Duplicate", f"AMI name {name} is already in use by AMI {image.id}")


def _made(backend: Any, name: str, snapshot: Any, ebs: dict[str, Any], tags: dict[str, str], **given: Any) -> Ami:
    image = Ami(backend, random_ami_id(), name=name, virtualization_type="hvm", root_device_type="ebs", **given)
    # Of moto's own making, and of nothing.
    del backend.snapshots[image.ebs_snapshot.id]
    image.ebs_snapshot, image.state = snapshot, "pending"
    vars(image)["available_at"] = clock.now() + PENDING_SECONDS
    ebs_defaults = {"VolumeSize": snapshot.volume_size, "VolumeType": "gp2", "DeleteOnTermination": True, **ebs}
    shown = {**ebs_defaults, "SnapshotId": snapshot.id, "Encrypted": snapshot.encrypted}
    vars(image)["mappings"] = [{"DeviceName": image.root_device_name, "Ebs": shown}]
    image.add_tags(tags)
    backend.amis[image.id] = image
    return image


def settle(backend: Any) -> None:
    """What was pending long enough is available, a copy's snapshot complete."""
    for image in list(backend.amis.values()):
        if image.state == "pending" and clock.now() >= vars(image).get("available_at", 0):
            image.state = "available"
            image.ebs_snapshot.status = direct_blocks.COMPLETED


def _shown() -> None:
    mappings = Ami.block_device_mappings.fget
    Ami.block_device_mappings = property(lambda self: vars(self).get("mappings") or mappings(self))

    @override(Ami, "get_filter_value")
    def get_filter_value(self: Any, original: Any, filter_name: str, *args: Any) -> Any:
        if filter_name == "block-device-mapping.snapshot-id":
            return [one["Ebs"]["SnapshotId"] for one in self.block_device_mappings]
        return original(filter_name, *args)

    @override(EC2Backend, "describe_images")
    def describe_images(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        settle(self)
        return original(*args, **given)

    @override(EC2Backend, "describe_snapshots")
    def describe_snapshots(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        settle(self)
        return original(*args, **given)

    @override(EC2Response, "describe_images")
    def asked(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        found = self.ec2_backend.describe_images(
            ami_ids=self._get_param("ImageIds", []),
            filters=self._filters_from_querystring(),
            exec_users=self._get_param("ExecutableUsers", []),
            owners=self._get_param("Owners", []),
        )
        disabled = self._get_bool_param("IncludeDisabled", if_none=False)
        return ActionResult({"Images": [image for image in found if disabled or image.state != "disabled"]})


def _register() -> None:
    @override(EC2Response, "register_image")
    def register_image(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        backend, name = self.ec2_backend, self._get_param("Name")
        device, mode = self._get_param("RootDeviceName"), self._get_param("BootMode")
        mappings = {one["DeviceName"]: one.get("Ebs", {}) for one in self._get_param("BlockDeviceMappings", [])}
        imds, tpm = self._get_param("ImdsSupport"), self._get_param("TpmSupport")
        self.error_on_dryrun()
        check_name(backend, name)
        ebs = mappings.get(device) or {}
        if not ebs.get("SnapshotId") or len(mappings) != 1:
            _refuse("InvalidBlockDeviceMapping", "The local cloud registers images of one snapshot, the root device's")
        if imds not in (None, "v2.0") or tpm not in (None, "v2.0") or mode not in BOOT_MODES:
            _refuse("InvalidParameterValue", f"A value of {imds}, {tpm}, {mode} is invalid")
        if tpm and mode != "uefi":
            _refuse("InvalidParameterCombination", "TpmSupport needs the boot mode uefi")
        snapshot = backend.describe_snapshots(snapshot_ids=[ebs["SnapshotId"]])[0]
        if snapshot.status != direct_blocks.COMPLETED:
            _refuse("IncorrectState", f"The snapshot '{snapshot.id}' is in the state {snapshot.status}")
        if int(ebs.get("VolumeSize") or snapshot.volume_size) < snapshot.volume_size:
            _refuse(
                "InvalidBlockDeviceMapping", f"The volume is smaller than its snapshot ({snapshot.volume_size} GiB)"
            )
        image = _made(
            backend,
            name,
            snapshot,
            {key: value for key, value in ebs.items() if key not in ("SnapshotId", "Encrypted") and value is not None},
            self._parse_tag_specification().get("image", {}),
            description=self._get_param("Description", ""),
            architecture=self._get_param("Architecture", "i386"),
            root_device_name=device,
            boot_mode=mode,
        )
        vars(image).update(
            ena_support=self._get_bool_param("EnaSupport", if_none=False), imds_support=imds, tpm_support=tpm
        )
        return ActionResult({"ImageId": image.id})


def _copy() -> None:
    @override(EC2Response, "copy_image")
    def copy_image(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        from moto.ec2.models import ec2_backends

        backend, key = self.ec2_backend, self._get_param("KmsKeyId")
        encrypted, token = self._get_bool_param("Encrypted", if_none=False), self._get_param("ClientToken")
        wanted = self._get_param("SourceImageId"), self._get_param("SourceRegion"), self._get_param("Name")
        tags = self._parse_tag_specification()
        self.error_on_dryrun()
        parameters = (*wanted, encrypted, key, str(tags))
        before = vars(backend).setdefault("copies", {}).get(token)
        if before and before[1] != parameters:
            _refuse("IdempotentParameterMismatch", f"The client token {token} was used for another request")
        if before:
            return ActionResult({"ImageId": before[0]})
        if key and not encrypted:
            raise InvalidParameterDependency("KmsKeyId", "Encrypted")
        source = ec2_backends[backend.account_id][wanted[1]].describe_images(ami_ids=[wanted[0]])[0]
        if source.state != "available":
            _refuse("InvalidAMIID.Unavailable", f"The image ID '{source.id}' is not available")
        check_name(backend, wanted[2])
        snapshot = direct_blocks.made(
            backend,
            source.ebs_snapshot.volume_size,
            f"Copied for DestinationAmi from SourceAmi {source.id}",
            tags.get("snapshot", {}),
            encrypted=encrypted or source.ebs_snapshot.encrypted,
            key=key,
        )
        direct_blocks.contents(snapshot).update(direct_blocks.contents(source.ebs_snapshot))
        own = {tag["key"]: tag["value"] for tag in source.get_tags()}
        copied = own if self._get_bool_param("CopyImageTags", if_none=False) else {}
        properties = {
            k: v for k, v in source.block_device_mappings[0]["Ebs"].items() if k not in ("SnapshotId", "Encrypted")
        }
        image = _made(
            backend,
            wanted[2],
            snapshot,
            properties,
            {**copied, **tags.get("image", {})},
            description=self._get_param("Description") or source.description,
            architecture=source.architecture,
            root_device_name=source.root_device_name,
            boot_mode=source.boot_mode,
        )
        for name in ("ena_support", "imds_support", "tpm_support"):
            vars(image)[name] = vars(source).get(name)
        vars(image).update(source_image_id=source.id, source_image_region=wanted[1])
        if token:
            vars(backend)["copies"][token] = (image.id, parameters)
        return ActionResult({"ImageId": image.id})


def _image(backend: Any, image_id: Any) -> Any:
    """Raises InvalidAMIID.NotFound or .Unavailable."""
    if image_id in backend.deleted_amis:
        _refuse("InvalidAMIID.Unavailable", f"The image ID '{image_id}' is no longer available")
    return backend.describe_images(ami_ids=[image_id])[0]


def _states() -> None:
    @override(EC2Backend, "run_instances")
    def run_instances(self: Any, original: Any, image_id: str, *args: Any, **given: Any) -> Any:
        settle(self)
        image = self.amis.get(image_id)
        if image is not None and image.state in ("pending", "disabled", "failed"):
            _refuse("InvalidAMIID.Unavailable", f"The image ID '{image_id}' is not available")
        return original(image_id, *args, **given)

    @override(EC2Backend, "create_image")
    def create_image(self: Any, original: Any, instance_id: str, name: str, *args: Any, **given: Any) -> Any:
        check_name(self, name)
        return original(instance_id, name, *args, **given)

    @add(EC2Response)
    def enable_image_deprecation(self: Any) -> ActionResult:
        image, when = _image(self.ec2_backend, self._get_param("ImageId")), self._get_param("DeprecateAt")
        when = when if isinstance(when, datetime.datetime) else datetime.datetime.fromisoformat(str(when))
        when = when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
        now = datetime.datetime.fromtimestamp(clock.now(), datetime.UTC)
        if not now < when <= now + LONGEST:
            _refuse("InvalidParameterValue", "DeprecateAt must be in the future, and within 10 years")
        # Seconds are rounded to the nearest minute (EnableImageDeprecation).
        rounded = (when + datetime.timedelta(seconds=30)).replace(second=0, microsecond=0)
        image.deprecation_time = rounded.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return ActionResult({"Return": True})

    @add(EC2Response)
    def disable_image_deprecation(self: Any) -> ActionResult:
        vars(_image(self.ec2_backend, self._get_param("ImageId"))).pop("deprecation_time", None)
        return ActionResult({"Return": True})


def _ends() -> None:
    @override(EC2Response, "deregister_image")
    def deregister_image(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        backend = self.ec2_backend
        image = _image(backend, self._get_param("ImageId"))
        too = self._get_bool_param("DeleteAssociatedSnapshots", if_none=False)
        self.error_on_dryrun()
        backend.deregister_image(image.id)
        if not too:
            return ActionResult({"Return": True})
        snapshot, others = image.ebs_snapshot.id, _users(backend, image.ebs_snapshot.id)
        if not others:
            backend.delete_snapshot(snapshot)
        code = "skipped" if others else "success"
        return ActionResult({"Return": True, "DeleteSnapshotResults": [{"SnapshotId": snapshot, "ReturnCode": code}]})

    @override(EC2Backend, "delete_snapshot")
    def delete_snapshot(self: Any, original: Any, snapshot_id: str) -> Any:
        for image in _users(self, snapshot_id):
            raise InvalidSnapshotInUse(snapshot_id, image)
        return original(snapshot_id)


def _users(backend: Any, snapshot_id: str) -> list[str]:
    return [image.id for image in list(backend.amis.values()) if image.ebs_snapshot.id == snapshot_id]
