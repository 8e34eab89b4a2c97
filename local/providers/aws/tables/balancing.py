"""Load balancers, their listeners, target groups and targets."""

from collections.abc import Callable
from typing import Any

from ..kinds import ID, TAG_KEYS, TAGS, Call, Change, Found, Kind, Out, P, Tagging, props, replaces, same_paths
from .parts import Given, Part, found, plain

_TAGGING = Tagging(
    add=Call("add_tags", {"ResourceArns": [ID], "Tags": TAGS}),
    remove=Call("remove_tags", {"ResourceArns": [ID], "TagKeys": TAG_KEYS}),
    read=Call("describe_tags", {"ResourceArns": [ID]}, "TagDescriptions[0].Tags"),
)
_MAPPING = {**plain("subnetId"), "privateIpv4Address": Part("PrivateIPv4Address")}
_ACTION = plain("type", "targetGroupArn", "order")


def _lower(value: Any) -> str:
    """Attributes are text, whatever they mean."""
    return str(value).lower()


def _attribute(operation: str, arn: str, name: str, key: str, default: Any) -> Change:
    attributes = [{"Key": key, "Value": P(name, default, _lower)}]
    return Change((name,), (Call(operation, {arn: ID, "Attributes": attributes}),), on_create=True)


def _read_attribute(key: str, convert: Callable[[str], Any]) -> Callable[[Found], Any]:
    def read(answer: Found) -> Any:
        values = {attribute["Key"]: attribute["Value"] for attribute in answer.answer["attributes"]}
        return convert(values[key]) if key in values else None

    return read


def _flag(text: str) -> bool:
    return text == "true"


def _mappings(read: Found) -> list[dict[str, str]]:
    zones = read.answer["AvailabilityZones"]
    addresses: list[dict[str, str]] = [next(iter(zone.get("LoadBalancerAddresses") or []), {}) for zone in zones]
    return [found(_MAPPING, {**zone, **address}) for zone, address in zip(zones, addresses, strict=True)]


# Property → attribute, its default, and what the provider makes of the text.
_BALANCER_ATTRIBUTES: dict[str, tuple[str, Any, Callable[[str], Any]]] = {
    "enableCrossZoneLoadBalancing": ("load_balancing.cross_zone.enabled", False, _flag),
    "enableDeletionProtection": ("deletion_protection.enabled", False, _flag),
}
_GROUP_ATTRIBUTES: dict[str, tuple[str, Any, Callable[[str], Any]]] = {
    "deregistrationDelay": ("deregistration_delay.timeout_seconds", 300, int),
    "connectionTermination": ("deregistration_delay.connection_termination.enabled", False, _flag),
    "preserveClientIp": ("preserve_client_ip.enabled", False, str),
}

BALANCER = Kind(
    service="elbv2",
    create=Call(
        "create_load_balancer",
        {
            **props("name", "subnets", "securityGroups", "ipAddressType"),
            "Type": P("loadBalancerType", "application"),
            "Scheme": P("internal", default=False, convert=lambda on: "internal" if on else "internet-facing"),
            "SubnetMappings": P("subnetMappings", convert=Given(_MAPPING)),
        },
        "LoadBalancers[0].LoadBalancerArn",
    ),
    read=Call("describe_load_balancers", {"LoadBalancerArns": [ID]}, "LoadBalancers[0]"),
    more={"attributes": Call("describe_load_balancer_attributes", {"LoadBalancerArn": ID}, "Attributes")},
    delete=(Call("delete_load_balancer", {"LoadBalancerArn": ID}),),
    outputs={
        **same_paths("vpcId", "securityGroups", "ipAddressType"),
        "name": "LoadBalancerName",
        "arn": "LoadBalancerArn",
        "arnSuffix": lambda read: read.id.partition(":loadbalancer/")[2],
        "dnsName": "DNSName",
        "zoneId": "CanonicalHostedZoneId",
        "loadBalancerType": "Type",
        "internal": "Scheme=='internal'",
        "subnets": "AvailabilityZones[].SubnetId",
        "subnetMappings": _mappings,
        **{name: _read_attribute(key, convert) for name, (key, _, convert) in _BALANCER_ATTRIBUTES.items()},
    },
    # New subnets could be added in place; the provider replaces, as an address of a mapping can't change.
    replace=replaces("name", "internal", "loadBalancerType", "subnetMappings", "subnets"),
    changes=(
        Change(
            ("securityGroups",),
            (Call("set_security_groups", {"LoadBalancerArn": ID, "SecurityGroups": P("securityGroups", [])}),),
        ),
        Change(
            ("ipAddressType",),
            (Call("set_ip_address_type", {"LoadBalancerArn": ID, "IpAddressType": P("ipAddressType", "ipv4")}),),
        ),
        *(
            _attribute("modify_load_balancer_attributes", "LoadBalancerArn", name, key, default)
            for name, (key, default, _) in _BALANCER_ATTRIBUTES.items()
        ),
    ),
    autoname="name",
    tagging=_TAGGING,
)

# Part of healthCheck → parameter, for creation and change alike.
_CHECK = {
    "enabled": "HealthCheckEnabled",
    "protocol": "HealthCheckProtocol",
    "port": "HealthCheckPort",
    "path": "HealthCheckPath",
    "interval": "HealthCheckIntervalSeconds",
    "timeout": "HealthCheckTimeoutSeconds",
    "healthyThreshold": "HealthyThresholdCount",
    "unhealthyThreshold": "UnhealthyThresholdCount",
}


def _check_part(part: str) -> P:
    return P("healthCheck", convert=lambda check: check.get(part))


_CHECK_PARAMS = {
    **{parameter: _check_part(part) for part, parameter in _CHECK.items()},
    "Matcher": {"HttpCode": _check_part("matcher")},
}

TARGET_GROUP = Kind(
    service="elbv2",
    create=Call(
        "create_target_group",
        {**props("name", "port", "protocol", "vpcId", "ipAddressType", "targetType"), **_CHECK_PARAMS},
        "TargetGroups[0].TargetGroupArn",
    ),
    read=Call("describe_target_groups", {"TargetGroupArns": [ID]}, "TargetGroups[0]"),
    more={"attributes": Call("describe_target_group_attributes", {"TargetGroupArn": ID}, "Attributes")},
    delete=(Call("delete_target_group", {"TargetGroupArn": ID}),),
    outputs={
        **same_paths("port", "protocol", "vpcId", "ipAddressType", "targetType", "loadBalancerArns"),
        "name": "TargetGroupName",
        "arn": "TargetGroupArn",
        "arnSuffix": lambda read: read.id.rpartition(":")[2],
        "healthCheck": lambda read: {
            **{part: read.answer.get(parameter) for part, parameter in _CHECK.items()},
            "matcher": (read.answer.get("Matcher") or {}).get("HttpCode"),
        },
        **{name: _read_attribute(key, convert) for name, (key, _, convert) in _GROUP_ATTRIBUTES.items()},
    },
    replace=replaces("name", "port", "protocol", "vpcId", "ipAddressType", "targetType"),
    changes=(
        Change(("healthCheck",), (Call("modify_target_group", {"TargetGroupArn": ID, **_CHECK_PARAMS}),)),
        *(
            _attribute("modify_target_group_attributes", "TargetGroupArn", name, key, default)
            for name, (key, default, _) in _GROUP_ATTRIBUTES.items()
        ),
    ),
    autoname="name",
    tagging=_TAGGING,
)

_LISTENER = {**props("port", "protocol"), "DefaultActions": P("defaultActions", convert=Given(_ACTION))}

LISTENER = Kind(
    service="elbv2",
    create=Call("create_listener", {"LoadBalancerArn": P("loadBalancerArn"), **_LISTENER}, "Listeners[0].ListenerArn"),
    read=Call("describe_listeners", {"ListenerArns": [ID]}, "Listeners[0]"),
    delete=(Call("delete_listener", {"ListenerArn": ID}),),
    outputs={
        **same_paths("loadBalancerArn", "port", "protocol"),
        "arn": "ListenerArn",
        "defaultActions": lambda read: found(_ACTION, read.answer["DefaultActions"]),
    },
    replace=replaces("loadBalancerArn"),
    changes=(
        Change(("port", "protocol", "defaultActions"), (Call("modify_listener", {"ListenerArn": ID, **_LISTENER}),)),
    ),
    tagging=_TAGGING,
)

_TARGET = {"Id": P("targetId"), **props("port", "availabilityZone")}

TARGET = Kind(
    service="elbv2",
    create=Call("register_targets", {"TargetGroupArn": P("targetGroupArn"), "Targets": [_TARGET]}),
    make_id=lambda _, inputs: f"{inputs['targetGroupArn']}-{inputs['targetId']}",
    read=Call(
        "describe_target_health",
        {"TargetGroupArn": P("targetGroupArn"), "Targets": [_TARGET]},
        "TargetHealthDescriptions[?TargetHealth.Reason!='Target.NotRegistered'"
        " && TargetHealth.State!='draining'] | [0]",
    ),
    delete=(
        Call(
            "deregister_targets",
            {
                "TargetGroupArn": Out("targetGroupArn"),
                "Targets": [{"Id": Out("targetId"), "Port": Out("port"), "AvailabilityZone": Out("availabilityZone")}],
            },
        ),
    ),
    outputs={
        "targetGroupArn": lambda read: read.inputs["targetGroupArn"],
        "targetId": "Target.Id",
        "port": "Target.Port",
    },
    replace=replaces("targetGroupArn", "targetId", "port", "availabilityZone"),
    missing=("InvalidTarget",),
)

KINDS = {
    "aws:lb/loadBalancer:LoadBalancer": BALANCER,
    "aws:lb/targetGroup:TargetGroup": TARGET_GROUP,
    "aws:lb/listener:Listener": LISTENER,
    "aws:lb/targetGroupAttachment:TargetGroupAttachment": TARGET,
}
