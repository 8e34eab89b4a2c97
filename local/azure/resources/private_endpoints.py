"""Private endpoints: an address in a subnet for an account or a vault, and the names that lead to it."""

import uuid
from typing import Any

from .. import addresses, ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import common
from .interfaces import INTERFACE, mac
from .private_zones import ZONE
from .subnets import GATEWAY, SUBNET, delegated_to

ENDPOINT = "Microsoft.Network/privateEndpoints"
ZONE_GROUP = "Microsoft.Network/privateEndpoints/privateDnsZoneGroups"
STORAGE, VAULT = "Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults"
# Azure docs, "Private Endpoint private DNS zone values": type and group → the member's name, the public zone.
GROUPS = {
    **{
        (STORAGE.lower(), name): (name, f"{name}.core.windows.net")
        for name in ("blob", "file", "queue", "table", "dfs", "web")
    },
    (VAULT.lower(), "vault"): ("default", "vault.azure.net"),
}
KNOWN = frozenset(
    (
        *("subnet", "privateLinkServiceConnections", "manualPrivateLinkServiceConnections", "ipConfigurations"),
        *("customNetworkInterfaceName", "applicationSecurityGroups", "ipVersionType"),
    )
)
CONNECTION = frozenset(("privateLinkServiceId", "groupIds", "requestMessage", "privateLinkServiceConnectionState"))
APPROVED = {"status": "Approved", "description": "Auto-Approved", "actionsRequired": "None"}


def _check(turn: Write) -> None:
    common.name(turn)
    properties = turn.properties
    subnet = require(turn, properties.get("subnet"), "properties.subnet.id", SUBNET)
    common.only_id(properties, "subnet")
    if given := delegated_to(subnet):
        message = f"{turn.id.text} cannot be in subnet {subnet.id.text}, which is delegated to {given[0]}."
        raise bad_request("PrivateEndpointCreationNotAllowedAsSubnetIsDelegated", message)
    if ids.same(subnet.id.name, GATEWAY):
        raise common.invalid(f"{turn.id.text} is in {subnet.id.text}, which is a gateway's.")
    if properties.get("manualPrivateLinkServiceConnections"):
        raise common.invalid(f"{turn.id.text}: the local Azure has nobody who would approve a manual connection.")
    properties["manualPrivateLinkServiceConnections"] = []
    common.pick(turn, properties, "ipVersionType", ("IPv4",), "IPv4")
    if turn.old and not ids.same(turn.old.properties["subnet"]["id"], subnet.id.text):
        raise common.invalid(f"The subnet of {turn.id.text} cannot be changed.")
    target, group, member, zone = _connection(turn)
    static = _static(turn, group, member)
    interface = _interface(turn)
    by = f"{interface.id.text}/ipConfigurations/{static['name'] if static else 'privateEndpointIpConfig'}"
    address = static["properties"]["privateIPAddress"] if static else None
    allotted = addresses.allot(turn.world, interface, [(subnet, address, by)])[0]
    fqdn = f"{target.id.name}.{zone}"
    interface.properties["ipConfigurations"] = [_configuration(by, allotted, subnet, group, member, fqdn)]
    properties["networkInterfaces"] = [{"id": interface.id.text}]
    turn.new.state = {**turn.new.state, "dns": [{"fqdn": fqdn, "ipAddresses": [allotted.address]}]}
    interface.changed()
    turn.world.store.put(interface)


def _connection(turn: Write) -> tuple[Resource, str, str, str]:
    """Whom it leads to: the resource, the group, its member, the zone of its public name."""
    listed = common.listed(turn, "privateLinkServiceConnections", CONNECTION, ("privateLinkServiceConnectionState",))
    if len(listed) != 1:
        raise common.invalid(f"{turn.id.text} has {len(listed)} privateLinkServiceConnections, not one.")
    of = listed[0]["properties"]
    target = require(
        turn, of.get("privateLinkServiceId"), "properties.privateLinkServiceConnections", STORAGE, VAULT, near=False
    )
    groups = of.get("groupIds") or []
    found = GROUPS.get((target.id.type.lower(), groups[0])) if len(groups) == 1 else None
    if found is None:
        known = ", ".join(group for type_, group in GROUPS if ids.same(type_, target.id.type))
        raise common.invalid(f"{turn.id.text}: groupIds {groups} is not one of those of {target.id.text}: {known}.")
    of["privateLinkServiceConnectionState"] = dict(APPROVED)
    return target, groups[0], *found


def _static(turn: Write, group: str, member: str) -> dict[str, Any] | None:
    listed = common.listed(turn, "ipConfigurations", ("groupId", "memberName", "privateIPAddress"))
    if len(listed) > 1:
        raise common.invalid(f"{turn.id.text} has {len(listed)} ipConfigurations; its one member needs one.")
    for one in listed:
        one.pop("id")
        of = one["properties"]
        of.pop("provisioningState")
        if (of.get("groupId"), of.get("memberName")) != (group, member) or not of.get("privateIPAddress"):
            raise common.invalid(
                f"{turn.id.text}: ipConfiguration {one['name']} needs groupId {group}, memberName {member} and a "
                "privateIPAddress."
            )
    return listed[0] if listed else None


def _interface(turn: Write) -> Resource:
    """Its own network interface, as it was or a new one."""
    old = turn.world.store.find(turn.old.properties["networkInterfaces"][0]["id"]) if turn.old else None
    name = turn.properties.setdefault("customNetworkInterfaceName", "")
    if old is not None:
        if name and not ids.same(name, old.id.name):
            raise common.invalid(f"The network interface of {turn.id.text} cannot be renamed.")
        return Resource(old.id, dict(old.body), state=dict(old.state))
    id_ = ids.parse(f"{turn.id.scope}/providers/{INTERFACE}/{name or f'{turn.id.name}.nic.{uuid.uuid4()}'}")
    if turn.world.store.find(id_):
        raise common.invalid(f"{turn.id.text}: there is a network interface {id_.text} already.")
    properties: dict[str, Any] = {
        "macAddress": mac(),
        "resourceGuid": str(uuid.uuid4()),
        "provisioningState": "Succeeded",
    }
    properties |= {"enableIPForwarding": False, "enableAcceleratedNetworking": False, "nicType": "Standard"}
    return Resource(id_, {"location": turn.new.location, "properties": properties})


def _configuration(
    by: str, allotted: addresses.Held, subnet: Resource, group: str, member: str, fqdn: str
) -> dict[str, Any]:
    properties = {
        "privateIPAddress": allotted.address,
        "privateIPAllocationMethod": "Static" if by.rpartition("/")[2] != "privateEndpointIpConfig" else "Dynamic",
        "privateIPAddressVersion": "IPv4",
        "subnet": {"id": subnet.id.text},
        "primary": True,
        "provisioningState": "Succeeded",
        "privateLinkConnectionProperties": {"groupId": group, "requiredMemberName": member, "fqdns": [fqdn]},
    }
    return {"id": by, "name": by.rpartition("/")[2], "properties": properties}


def _removed(turn: Write) -> None:
    for one in turn.properties["networkInterfaces"]:
        if found := turn.world.store.find(one["id"]):
            turn.world.store.drop(found)


def _computed(world: World, endpoint: Resource) -> dict[str, Any]:
    """With a zone group it is that which tells the names."""
    named = any(world.store.children(endpoint, ZONE_GROUP))
    return {"customDnsConfigs": [] if named else endpoint.state["dns"]}


def _zone_group(turn: Write) -> None:
    common.name(turn)
    if turn.siblings:
        raise common.invalid(f"{turn.parent.id.text} has a privateDnsZoneGroup already: {turn.siblings[0].id.name}.")
    configurations = common.listed(turn, "privateDnsZoneConfigs", ("privateDnsZoneId",), ("recordSets",))
    if not configurations:
        raise common.invalid(f"{turn.id.text} has no privateDnsZoneConfigs.")
    for one in configurations:
        one.pop("id")
        one["properties"].pop("provisioningState")
        at = "properties.privateDnsZoneConfigs.privateDnsZoneId"
        require(turn, one["properties"].get("privateDnsZoneId"), at, ZONE, near=False)


def _records(turn: Write) -> list[tuple[str, Resource, dict[str, Any]]]:
    """Configuration's name, zone and what is told of the record in it."""
    dns = turn.parent.state["dns"][0]
    label = dns["fqdn"].partition(".")[0]
    found = []
    for one in turn.properties["privateDnsZoneConfigs"]:
        zone = turn.world.store.find(one["properties"]["privateDnsZoneId"])
        if zone:
            record = {"recordType": "A", "recordSetName": label, "fqdn": f"{label}.{zone.id.name}", "ttl": 10}
            record |= {"ipAddresses": dns["ipAddresses"], "provisioningState": "Succeeded"}
            found.append((one["name"], zone, record))
    return found


def _write_records(turn: Write) -> None:
    if turn.old:
        _drop_records(Write(turn.world, turn.old, turn.old, {}))
    records = {}
    for name, zone, record in _records(turn):
        id_ = ids.parse(f"{zone.id.text}/A/{record['recordSetName']}")
        properties = {
            "ttl": record["ttl"],
            "aRecords": [{"ipv4Address": one} for one in record["ipAddresses"]],
            "metadata": {"creator": f"created by private endpoint {turn.parent.id.name}"},
        }
        turn.world.store.put(Resource(id_, {"properties": properties}))
        records[name] = [record]
    for one in turn.properties["privateDnsZoneConfigs"]:
        one["properties"]["recordSets"] = records.get(one["name"], [])


def _drop_records(turn: Write) -> None:
    for _, zone, record in _records(turn):
        if found := turn.world.store.find(f"{zone.id.text}/A/{record['recordSetName']}"):
            turn.world.store.drop(found)


KINDS = (
    Kind(
        ENDPOINT,
        check=_check,
        removed=_removed,
        computed=_computed,
        known=KNOWN,
        read_only=("networkInterfaces", "customDnsConfigs", "billingSku"),
        slow=SLOW,
        free=frozenset((INTERFACE,)),
    ),
    Kind(
        ZONE_GROUP,
        tracked=False,
        check=_zone_group,
        settle=_write_records,
        removed=_drop_records,
        known=frozenset(("privateDnsZoneConfigs",)),
        serial=True,
        slow=SLOW,
    ),
)
