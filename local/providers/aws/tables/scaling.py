"""Scaling groups and their lifecycle hooks."""

from typing import Any

from ..kinds import ID, Added, Call, Change, Each, Found, Kind, Out, P, Removed, Template, props, replaces, same_paths
from .parts import Given, Part, found, plain

_LAUNCH = {**plain("version"), "id": Part("LaunchTemplateId"), "name": Part("LaunchTemplateName")}
_HOOK = {
    **plain("lifecycleTransition", "defaultResult", "heartbeatTimeout", "notificationMetadata"),
    "name": Part("LifecycleHookName"),
    "notificationTargetArn": Part("NotificationTargetARN"),
    "roleArn": Part("RoleARN"),
}
_TAG = plain("key", "value", "propagateAtLaunch")

# Property → parameter, for all that UpdateAutoScalingGroup takes as CreateAutoScalingGroup does.
_SETTINGS: dict[str, tuple[str, P]] = {
    "minSize": ("MinSize", P("minSize")),
    "maxSize": ("MaxSize", P("maxSize")),
    "launchTemplate": ("LaunchTemplate", P("launchTemplate", convert=Given(_LAUNCH))),
    "availabilityZones": ("AvailabilityZones", P("availabilityZones")),
    "vpcZoneIdentifiers": ("VPCZoneIdentifier", P("vpcZoneIdentifiers", convert=",".join)),
    "protectFromScaleIn": ("NewInstancesProtectedFromScaleIn", P("protectFromScaleIn", default=False)),
    "healthCheckType": ("HealthCheckType", P("healthCheckType", default="EC2")),
    "healthCheckGracePeriod": ("HealthCheckGracePeriod", P("healthCheckGracePeriod", default=300)),
    "terminationPolicies": ("TerminationPolicies", P("terminationPolicies", default=["Default"])),
    "capacityRebalance": ("CapacityRebalance", P("capacityRebalance", default=False)),
    "defaultCooldown": ("DefaultCooldown", P("defaultCooldown", default=300)),
    "placementGroup": ("PlacementGroup", P("placementGroup")),
}
_DESIRED: dict[str, Template] = {"DesiredCapacity": P("desiredCapacity")}


def _update(params: dict[str, Template]) -> Call:
    return Call("update_auto_scaling_group", {"AutoScalingGroupName": ID, **params})


def _tag(tag: dict[str, Any], group: str) -> dict[str, Any]:
    return {"ResourceId": group, "ResourceType": "auto-scaling-group", **Given(_TAG)(tag)}


def _tag_key(tag: dict[str, Any], group: str) -> dict[str, Any]:
    return {"ResourceId": group, "ResourceType": "auto-scaling-group", "Key": tag["key"]}


def _subnets(read: Found) -> list[str]:
    return [name for name in read.answer.get("VPCZoneIdentifier", "").split(",") if name]


GROUP = Kind(
    service="autoscaling",
    create=Call(
        "create_auto_scaling_group",
        {
            "AutoScalingGroupName": P("name"),
            **dict(_SETTINGS.values()),
            **_DESIRED,
            "TargetGroupARNs": P("targetGroupArns"),
            "Tags": P("tags", convert=Given(_TAG)),
            "LifecycleHookSpecificationList": P("initialLifecycleHooks", convert=Given(_HOOK)),
        },
    ),
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("describe_auto_scaling_groups", {"AutoScalingGroupNames": [ID]}, "AutoScalingGroups[0]"),
    # The provider empties a group before it deletes it, unless it is told to force that.
    delete=(
        _update({"MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}),
        Call("delete_auto_scaling_group", {"AutoScalingGroupName": ID, "ForceDelete": Out("forceDelete")}),
    ),
    outputs={
        **same_paths("minSize", "maxSize", "desiredCapacity", "healthCheckType", "healthCheckGracePeriod"),
        **same_paths("terminationPolicies", "capacityRebalance", "defaultCooldown", "placementGroup"),
        **same_paths("availabilityZones"),
        "name": "AutoScalingGroupName",
        "arn": "AutoScalingGroupARN",
        "launchTemplate": lambda read: found(_LAUNCH, read.answer.get("LaunchTemplate")),
        "vpcZoneIdentifiers": _subnets,
        "protectFromScaleIn": "NewInstancesProtectedFromScaleIn",
        "targetGroupArns": "TargetGroupARNs",
        "suspendedProcesses": "SuspendedProcesses[].ProcessName",
        "tags": lambda read: found(_TAG, read.answer.get("Tags", [])),
    },
    replace=replaces("name"),
    changes=(
        Change(("minSize", "maxSize"), (_update(dict(_SETTINGS[name] for name in ("minSize", "maxSize"))),)),
        # Alone, and only when the program changes it: else every update would undo what the autoscaler decided.
        Change(("desiredCapacity",), (_update(_DESIRED),)),
        *(
            Change((name,), (_update({parameter: value}),))
            for name, (parameter, value) in _SETTINGS.items()
            if name not in ("minSize", "maxSize")
        ),
        Change(
            ("suspendedProcesses",),
            (
                Call(
                    "suspend_processes", {"AutoScalingGroupName": ID, "ScalingProcesses": Added("suspendedProcesses")}
                ),
                Call(
                    "resume_processes", {"AutoScalingGroupName": ID, "ScalingProcesses": Removed("suspendedProcesses")}
                ),
            ),
            on_create=True,
        ),
        Change(
            ("targetGroupArns",),
            (
                Call(
                    "attach_load_balancer_target_groups",
                    {"AutoScalingGroupName": ID, "TargetGroupARNs": Added("targetGroupArns")},
                ),
                Call(
                    "detach_load_balancer_target_groups",
                    {"AutoScalingGroupName": ID, "TargetGroupARNs": Removed("targetGroupArns")},
                ),
            ),
        ),
        # What is gone goes first: a new value of a tag is one less and one more.
        Change(
            ("tags",),
            (
                Call("delete_tags", {"Tags": Each("tags", _tag_key, Removed)}),
                Call("create_or_update_tags", {"Tags": Each("tags", _tag)}),
            ),
        ),
    ),
    autoname="name",
    accepts=("forceDelete", "waitForCapacityTimeout"),
    missing=("ValidationError",),  # all that Auto Scaling says of a group that is gone
)

_PUT = Call(
    "put_lifecycle_hook",
    {
        "LifecycleHookName": P("name"),
        "AutoScalingGroupName": P("autoscalingGroupName"),
        **props("lifecycleTransition", "defaultResult", "heartbeatTimeout", "notificationMetadata"),
        "NotificationTargetARN": P("notificationTargetArn"),
        "RoleARN": P("roleArn"),
    },
)

HOOK = Kind(
    service="autoscaling",
    create=_PUT,
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call(
        "describe_lifecycle_hooks",
        {"AutoScalingGroupName": P("autoscalingGroupName"), "LifecycleHookNames": [P("name")]},
        "LifecycleHooks[0]",
    ),
    delete=(
        Call(
            "delete_lifecycle_hook",
            {"LifecycleHookName": Out("name"), "AutoScalingGroupName": Out("autoscalingGroupName")},
        ),
    ),
    outputs={
        **{name: part.name for name, part in _HOOK.items()},
        "autoscalingGroupName": "AutoScalingGroupName",
    },
    replace=replaces("name", "autoscalingGroupName"),
    changes=(Change(tuple(name for name in _HOOK if name != "name"), (_PUT,)),),
    autoname="name",
    missing=("ValidationError",),
)

KINDS = {
    "aws:autoscaling/group:Group": GROUP,
    "aws:autoscaling/lifecycleHook:LifecycleHook": HOOK,
}
