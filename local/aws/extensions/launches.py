"""An instance carries all that its launch template says, whether RunInstances or a scaling group launches it.

EC2 API: RunInstances ("any parameters that you specify override the same parameters in the launch template"),
ModifyLaunchTemplate; EC2 user guide: "Launch templates", "Preserve data when an instance is terminated". moto takes
user data, type, key and groups from the template, and always from its default version where a scaling group launches.
"""

from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.utils import convert_tag_spec, filter_iam_instance_profiles
from moto.iam.exceptions import NotFoundException

from . import snapshots
from .patching import override

ROOT_GIB = 8
# Parameter of the template → what moto calls it, and the part of it that moto wants. What the call says comes first.
PLAIN = {
    "KeyName": "key_name",
    "EbsOptimized": "ebs_optimized",
    "DisableApiTermination": "disable_api_termination",
    "InstanceInitiatedShutdownBehavior": "instance_initiated_shutdown_behavior",
}


def install() -> None:
    """Puts the template's data into every launch."""

    @override(EC2Backend, "run_instances")
    def run_instances(
        self: Any, original: Any, image_id: str, count: int, user_data: Any, names: list[str], **given: Any
    ) -> Any:
        data = template_data(self, given.get("launch_template"))
        own_profile = given.get("iam_instance_profile_name"), given.get("iam_instance_profile_arn")
        profile = {} if any(own_profile) else _profile(self, data)
        mappings = given.pop("block_device_mappings", None) or data.get("BlockDeviceMappings") or []
        for snapshot in [mapping.get("Ebs", {}).get("SnapshotId") for mapping in mappings]:
            snapshots.check(snapshot)
        for part, name in PLAIN.items():
            given[name] = given.get(name) or data.get(part)
        given["metadata_options"] = {**data.get("MetadataOptions", {}), **(given.get("metadata_options") or {})}
        if data.get("Monitoring", {}).get("Enabled"):
            given["monitoring_state"] = "enabled"
        given["instance_market_options"] = given.get("instance_market_options") or data.get(
            "InstanceMarketOptions", {}
        ).get("MarketType")
        given["nics"] = given.get("nics") or list(_nics(data, given.get("subnet_id")))
        _check_groups(given, names, data)
        _check_interfaces(self, count, given)
        group, efa = _placement(self, data), _efa(data)
        # moto's own way with volumes has no IOPS and no throughput, and adds a root volume beside the template's.
        made = original(image_id or data.get("ImageId"), count, user_data, names, block_device_mappings=[], **given)
        spec = convert_tag_spec(data.get("TagSpecifications", []))
        tags = {kind: {**spec.get(kind, {}), **given.get("tags", {}).get(kind, {})} for kind in TAGGED}
        for instance in made.instances:
            instance.security_groups = list(instance.nics[0]._group_set)
            instance.placement.group_name = group
            instance.efa = efa
            instance.placement.tenancy = data.get("Placement", {}).get("Tenancy", "default")
            _volumes(self, instance, mappings, tags["volume"])
            for interface in instance.nics.values():
                interface.add_tags(tags["network-interface"])
            if profile:
                self.associate_iam_instance_profile(instance.id, **profile)
        return made

    @override(EC2Backend, "modify_launch_template")
    def modify_launch_template(self: Any, original: Any, default_version: str, *args: Any, **given: Any) -> Any:
        """Takes $Latest too, as EC2 does for every launch template version."""
        name, id_ = given.get("template_name"), given.get("template_id")
        if default_version == "$Latest":
            template = self.get_launch_template(id_) if id_ else self.get_launch_template_by_name(name)
            default_version = str(template.latest_version_number)
        return original(default_version, *args, **given)


TAGGED = ("volume", "network-interface")


def template_data(backend: Any, named: Any) -> dict[str, Any]:
    if not named:
        return {}
    if "LaunchTemplateId" in named:
        template = backend.get_launch_template(named["LaunchTemplateId"])
    else:
        template = backend.get_launch_template_by_name(named["LaunchTemplateName"])
    found: dict[str, Any] = template.get_version(named.get("Version") or "$Default").data
    return found


def _profile(backend: Any, data: dict[str, Any]) -> dict[str, str]:
    """The instance profile, looked up before anything is launched."""
    named = data.get("IamInstanceProfile", {})
    given = {f"iam_instance_profile_{key}": named[part] for key, part in PROFILE.items() if named.get(part)}
    parts = {f"iam_instance_profile_{key}": None for key in PROFILE} | given
    try:
        if given and filter_iam_instance_profiles(backend.account_id, partition=backend.partition, **parts) is None:
            raise NotFoundException("no such profile")
    except NotFoundException:
        (part, value), *_ = named.items()
        message = f"Value ({value}) for parameter iamInstanceProfile.{part.lower()} is invalid."
        raise EC2ClientError(
            "InvalidParameterValue", f"{message} Invalid IAM Instance Profile {part.lower()}"
        ) from None
    return given


PROFILE = {"name": "Name", "arn": "Arn"}


def _nics(data: dict[str, Any], subnet: str | None) -> Iterator[dict[str, Any]]:
    """An interface for EFA alone has no address and carries no packet that a network here could see: it is left out."""
    listed = [nic for nic in data.get("NetworkInterfaces") or [] if nic.get("InterfaceType") != "efa-only"]
    for number, nic in enumerate(listed):
        # A scaling group says the subnet: "you can't specify a subnet in the launch template" that it would ignore.
        named = subnet and "NetworkInterfaceId" not in nic
        yield {"DeviceIndex": number, **nic, **({"SubnetId": subnet} if named else {})}


def _efa(data: dict[str, Any]) -> int:
    """Interfaces with EFA, those that have no address too."""
    return sum(nic.get("InterfaceType") in ("efa", "efa-only") for nic in data.get("NetworkInterfaces") or [])


def _check_groups(given: dict[str, Any], names: list[str], data: dict[str, Any]) -> None:
    if given["nics"] and (given.get("security_group_ids") or names or data.get("SecurityGroupIds")):
        message = "Network interfaces and an instance-level security groups may not be specified on the same request"
        raise EC2ClientError("InvalidParameterCombination", message)


def _check_interfaces(backend: Any, count: int, given: dict[str, Any]) -> None:
    """An interface that exists must be free, and in the zone of the launch; moto takes it from whoever has it."""
    for nic in given["nics"]:
        if not (id_ := nic.get("NetworkInterfaceId")):
            continue
        interface = backend.get_network_interface(id_)
        if count > 1:
            message = "Network interface ID may not be specified when launching more than one instance."
            raise EC2ClientError("InvalidParameterCombination", message)
        if interface.status != "available":
            raise EC2ClientError("InvalidNetworkInterface.InUse", f"Interface: [{id_}] in use.")
        zone = given.get("placement") or interface.subnet.availability_zone
        if interface.subnet.availability_zone != zone:
            message = (
                "You may not attach a network interface to an instance if they are not in the same availability zone"
            )
            raise EC2ClientError("InvalidParameterCombination", message)
        given["placement"] = zone


def _placement(backend: Any, data: dict[str, Any]) -> str:
    name = str(data.get("Placement", {}).get("GroupName") or "")
    if name and name not in vars(backend).get("placement_groups", {}):
        raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
    return name


def _volumes(backend: Any, instance: Any, mappings: list[dict[str, Any]], tags: dict[str, str]) -> None:
    """Root and more; a volume that is made at launch goes with its instance unless the mapping says otherwise."""
    devices: dict[str, dict[str, Any]] = {instance.root_device_name: {}}
    devices |= {mapping["DeviceName"]: mapping for mapping in mappings if not mapping.get("VirtualName")}
    for device, mapping in devices.items():
        if mapping.get("NoDevice") is not None:
            continue
        ebs_given = {key: value for key, value in mapping.get("Ebs", {}).items() if value is not None}
        ebs = {"VolumeSize": ROOT_GIB, **ebs_given}
        volume = backend.create_volume(
            size=int(ebs["VolumeSize"]),
            zone_name=instance.placement.zone,
            snapshot_id=ebs.get("SnapshotId"),
            encrypted=ebs.get("Encrypted", False),
            kms_key_id=ebs.get("KmsKeyId"),
            volume_type=ebs.get("VolumeType"),
            iops=ebs.get("Iops"),
            throughput=ebs.get("Throughput"),
        )
        volume.add_tags(tags)
        backend.attach_volume(volume.id, instance.id, device, ebs.get("DeleteOnTermination", True))
