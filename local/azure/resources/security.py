"""Network security groups and their rules."""

import re
from ipaddress import ip_network
from typing import Any

from .. import ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import common

GROUP = "Microsoft.Network/networkSecurityGroups"
RULE = "Microsoft.Network/networkSecurityGroups/securityRules"
APPLICATION_GROUP = "Microsoft.Network/applicationSecurityGroups"
FIRST, LAST = 100, 4096
PROTOCOLS = ("Tcp", "Udp", "Icmp", "Esp", "Ah", "*")
TAG = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Za-z0-9]+)?")
SIDES = ("source", "destination")
KNOWN = frozenset(
    (
        *("description", "protocol", "access", "priority", "direction"),
        *(
            f"{side}{field}"
            for side in SIDES
            for field in (
                *("PortRange", "PortRanges", "AddressPrefix", "AddressPrefixes"),
                "ApplicationSecurityGroups",
            )
        ),
    )
)
# Azure docs, "Network security groups", "Default security rules": priority, name, access, direction, from, to.
DEFAULTS = (
    (65000, "AllowVnetInBound", "Allow", "Inbound", "VirtualNetwork", "VirtualNetwork"),
    (65001, "AllowAzureLoadBalancerInBound", "Allow", "Inbound", "AzureLoadBalancer", "*"),
    (65500, "DenyAllInBound", "Deny", "Inbound", "*", "*"),
    (65000, "AllowVnetOutBound", "Allow", "Outbound", "VirtualNetwork", "VirtualNetwork"),
    (65001, "AllowInternetOutBound", "Allow", "Outbound", "*", "Internet"),
    (65500, "DenyAllOutBound", "Deny", "Outbound", "*", "*"),
)


def _group(write: Write) -> None:
    common.name(write)
    common.guid(write)


def _rule(write: Write) -> None:
    common.name(write)
    properties = write.properties
    common.pick(write, properties, "protocol", PROTOCOLS)
    common.pick(write, properties, "access", ("Allow", "Deny"))
    common.pick(write, properties, "direction", ("Inbound", "Outbound"))
    common.number(write, properties, "priority", FIRST, LAST)
    for other in write.siblings:
        if all(other.properties.get(at) == properties[at] for at in ("priority", "direction")):
            message = (
                f"Security rule {other.id.name} conflicts with rule {write.id.name}. Rules cannot have the same "
                "Priority and Direction. To learn more, see aka.ms/nsgrules."
            )
            raise bad_request("SecurityRuleConflict", message)
    if len(str(properties.get("description") or "")) > 140:
        raise common.invalid(f"{write.id.text}: the description is longer than 140 characters.")
    for side in SIDES:
        _ports(write, side)
        _addresses(write, side)


def _one_of(write: Write, singular: str, plural: str, also: str | None = None) -> list[str]:
    """Azure takes one field of them, and the singular as one that is not empty."""
    properties = write.properties
    if properties.get(singular) and properties.get(plural):
        raise common.invalid(f"Security rule {write.id.name} has both {singular} and {plural}.")
    if not properties.get(singular) and not properties.get(plural) and not (also and properties.get(also)):
        raise common.invalid(f"Security rule {write.id.name} has neither {singular} nor {plural}.")
    properties.setdefault(plural, [])
    return [properties[singular]] if properties.get(singular) else list(properties[plural])


def _ports(write: Write, side: str) -> None:
    plural = f"{side}PortRanges"
    many = bool(write.properties.get(plural))
    for text in _one_of(write, f"{side}PortRange", plural):
        if text == "*" and not many:
            continue
        if text == "*":
            message = f"Security rule {write.id.name} has '*' in {plural}, which takes ports and ranges."
            raise bad_request("SecurityRuleParameterContainsInvalidPortRanges", message)
        least, _, most = str(text).partition("-")
        numbers = [int(one) if one.isdigit() else -1 for one in (least, most or least)]
        if not 0 <= numbers[0] <= numbers[1] <= 65535:
            message = (
                f"Security rule has invalid Port range. Value provided: {text}. Value should be an integer OR integer "
                "range with '-' delimiter. Valid range 0-65535."
            )
            raise bad_request("SecurityRuleInvalidPortRange", message)


def _addresses(write: Write, side: str) -> None:
    plural, groups = f"{side}AddressPrefixes", f"{side}ApplicationSecurityGroups"
    many = bool(write.properties.get(plural))
    for text in _one_of(write, f"{side}AddressPrefix", plural, groups):
        if _is_prefix(text):
            continue
        if not many and (text == "*" or TAG.fullmatch(text)):
            continue
        if many and (text == "*" or TAG.fullmatch(text)):
            message = (
                f"Security rule parameter {plural[0].upper()}{plural[1:]} for rule with Id {write.id.text} cannot "
                "specify existing VIRTUALNETWORK, INTERNET, AZURELOADBALANCER, '*' or system tags. Unsupported value "
                f"used: {text}."
            )
            raise bad_request("SecurityRuleParameterContainsUnsupportedValue", message)
        message = f"Security rule {write.id.name} has invalid Address prefix. Value provided: {text}"
        raise bad_request("SecurityRuleInvalidAddressPrefix", message)
    for one in write.properties.get(groups) or ():
        require(write, one, f"properties.{groups}", APPLICATION_GROUP)


def _is_prefix(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


def _computed(world: World, group: Resource) -> dict[str, Any]:
    found: dict[str, Any] = {"defaultSecurityRules": [_default(group, *one) for one in DEFAULTS]}
    for at, type_ in (("subnets", "virtualNetworks/subnets"), ("networkInterfaces", "networkInterfaces")):
        users = [
            {"id": one.id.text}
            for one in world.store.all(f"Microsoft.Network/{type_}")
            if ids.same((one.properties.get("networkSecurityGroup") or {}).get("id"), group.id.text)
        ]
        if users:
            found[at] = users
    return found


def _default(
    group: Resource, priority: int, name: str, access: str, direction: str, source: str, destination: str
) -> dict[str, Any]:
    properties = {"protocol": "*", "access": access, "priority": priority, "direction": direction}
    properties |= {"sourcePortRange": "*", "destinationPortRange": "*", "provisioningState": "Succeeded"}
    properties |= {"sourceAddressPrefix": source, "destinationAddressPrefix": destination}
    id_ = f"{group.id.text}/defaultSecurityRules/{name}"
    return {"id": id_, "name": name, "type": f"{GROUP}/defaultSecurityRules", "properties": properties}


KINDS = (
    Kind(
        GROUP,
        check=_group,
        computed=_computed,
        subresources={"securityRules": RULE},
        known=frozenset(("securityRules", "flushConnection")),
        read_only=("defaultSecurityRules", "subnets", "networkInterfaces", "flowLogs", "resourceGuid"),
        slow=SLOW,
    ),
    Kind(RULE, tracked=False, check=_rule, known=KNOWN, serial=True, slow=SLOW),
    Kind(APPLICATION_GROUP, check=_group, known=frozenset(("resourceGuid",)), read_only=("resourceGuid",), slow=SLOW),
)
