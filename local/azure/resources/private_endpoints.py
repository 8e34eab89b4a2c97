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


def _check(write: Write) -> None:
    common.name(write)
    properties = write.properties
    subnet = require(write, properties.get("subnet"), "properties.subnet.id", SUBNET)
    common.only_id(properties, "subnet")
    if given := delegated_to(subnet):
        message = f"{write.id.text} cannot be in subnet {subnet.id.text}, which is delegated to {given[0]}."
        raise bad_request("PrivateEndpointCreationNotAllowedAsSubnetIsDelegated", message)
    if ids.same(subnet.id.name, GATEWAY):
        raise common.invalid(f"{write.id.text} is in {subnet.id.text}, which is a gateway's.")
    if properties.get("manualPrivateLinkServiceConnections"):
        raise common.invalid(f"{write.id.text}: the local Azure has nobody who would approve a manual connection.")
    properties["manualPrivateLinkServiceConnections"] = []
    common.pick(write, properties, "ipVersionType", ("IPv4",), "IPv4")
    if write.old and not ids.same(write.old.properties["subnet"]["id"], subnet.id.text):
        raise common.invalid(f"The subnet of {write.id.text} cannot be changed.")
    target, group, member, zone = _connection(write)
    static = _static(write, group, member)
    interface = _interface(write)
    by = f"{interface.id.text}/ipConfigurations/{static['name'] if static else 'privateEndpointIpConfig'}"
    address = static["properties"]["privateIPAddress"] if static else None
    allotted = addresses.allot(write.world, interface, [(subnet, address, by)])[0]
    fqdn = f"{target.id.name}.{zone}"
    interface.properties["ipConfigurations"] = [_configuration(by, allotted, subnet, group, member, fqdn)]
    properties["networkInterfaces"] = [{"id": interface.id.text}]
    write.new.state = {**write.new.state, "dns": [{"fqdn": fqdn, "ipAddresses": [allotted.address]}]}
    interface.changed()
    write.world.store.put(interface)


def _connection(write: Write) -> tuple[Resource, str, str, str]:
    """Whom it leads to: the resource, the group, its member, the zone of its public name."""
    listed = common.listed(write, "privateLinkServiceConnections", CONNECTION, ("privateLinkServiceConnectionState",))
    if len(listed) != 1:
        raise common.invalid(f"{write.id.text} has {len(listed)} privateLinkServiceConnections, not one.")
    of = listed[0]["properties"]
    target = require(
        write, of.get("privateLinkServiceId"), "properties.privateLinkServiceConnections", STORAGE, VAULT, near=False
    )
    groups = of.get("groupIds") or []
    found = GROUPS.get((target.id.type.lower(), groups[0])) if len(groups) == 1 else None
    if found is None:
        known = ", ".join(group for type_, group in GROUPS if ids.same(type_, target.id.type))
        raise common.invalid(f"{write.id.text}: groupIds {groups} is not one of those of {target.id.text}: {known}.")
    of["privateLinkServiceConnectionState"] = dict(APPROVED)
    return target, groups[0], *found


def _static(write: Write, group: str, member: str) -> dict[str, Any] | None:
    listed = common.listed(write, "ipConfigurations", ("groupId", "memberName", "privateIPAddress"))
    if len(listed) > 1:
        raise common.invalid(f"{write.id.text} has {len(listed)} ipConfigurations; its one member needs one.")
    for one in listed:
        one.pop("id")
        of = one["properties"]
        of.pop("provisioningState")
        if (of.get("groupId"), of.get("memberName")) != (group, member) or not of.get("privateIPAddress"):
            raise common.invalid(
                f"{write.id.text}: ipConfiguration {one['name']} needs groupId {group}, memberName {member} and a "
                "privateIPAddress."
            )
    return listed[0] if listed else None


def _interface(write: Write) -> Resource:
    """Its own network interface, as it was or a new one."""
    old = write.world.store.find(write.old.properties["networkInterfaces"][0]["id"]) if write.old else None
    name = write.properties.setdefault("customNetworkInterfaceName", "")
    if old is not None:
        if name and not ids.same(name, old.id.name):
            raise common.invalid(f"The network interface of {write.id.text} cannot be renamed.")
        return Resource(old.id, dict(old.body), state=dict(old.state))
    id_ = ids.parse(f"{write.id.scope}/providers/{INTERFACE}/{name or f'{write.id.name}.nic.{uuid.uuid4()}'}")
    if write.world.store.find(id_):
        raise common.invalid(f"{write.id.text}: there is a network interface {id_.text} already.")
    properties: dict[str, Any] = {
        "macAddress": mac(),
        "resourceGuid": str(uuid.uuid4()),
        "provisioningState": "Succeeded",
    }
    properties |= {"enableIPForwarding": False, "enableAcceleratedNetworking": False, "nicType": "Standard"}
    return Resource(id_, {"location": write.new.location, "properties": properties})


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


def _removed(write: Write) -> None:
    for one in write.properties["networkInterfaces"]:
        if found := write.world.store.find(one["id"]):
            write.world.store.drop(found)


def _computed(world: World, endpoint: Resource) -> dict[str, Any]:
    """With a zone group it is that which tells the names."""
    named = any(world.store.children(endpoint, ZONE_GROUP))
    return {"customDnsConfigs": [] if named else endpoint.state["dns"]}


def _zone_group(write: Write) -> None:
    common.name(write)
    if write.siblings:
        raise common.invalid(f"{write.parent.id.text} has a privateDnsZoneGroup already: {write.siblings[0].id.name}.")
    configurations = common.listed(write, "privateDnsZoneConfigs", ("privateDnsZoneId",), ("recordSets",))
    if not configurations:
        raise common.invalid(f"{write.id.text} has no privateDnsZoneConfigs.")
    for one in configurations:
        one.pop("id")
        one["properties"].pop("provisioningState")
        at = "properties.privateDnsZoneConfigs.privateDnsZoneId"
        require(write, one["properties"].get("privateDnsZoneId"), at, ZONE, near=False)


def _records(write: Write) -> list[tuple[str, Resource, dict[str, Any]]]:
    """Configuration's name, zone and what is told of the record in it."""
    dns = write.parent.state["dns"][0]
    label = dns["fqdn"].partition(".")[0]
    found = []
    for one in write.properties["privateDnsZoneConfigs"]:
        zone = write.world.store.find(one["properties"]["privateDnsZoneId"])
        if zone:
            record = {"recordType": "A", "recordSetName": label, "fqdn": f"{label}.{zone.id.name}", "ttl": 10}
            record |= {"ipAddresses": dns["ipAddresses"], "provisioningState": "Succeeded"}
            found.append((one["name"], zone, record))
    return found


def _write_records(write: Write) -> None:
    if write.old:
        _drop_records(Write(write.world, write.old, write.old, {}))
    records = {}
    for name, zone, record in _records(write):
        id_ = ids.parse(f"{zone.id.text}/A/{record['recordSetName']}")
        properties = {
            "ttl": record["ttl"],
            "aRecords": [{"ipv4Address": one} for one in record["ipAddresses"]],
            "metadata": {"creator": f"created by private endpoint {write.parent.id.name}"},
        }
        write.world.store.put(Resource(id_, {"properties": properties}))
        records[name] = [record]
    for one in write.properties["privateDnsZoneConfigs"]:
        one["properties"]["recordSets"] = records.get(one["name"], [])


def _drop_records(write: Write) -> None:
    for _, zone, record in _records(write):
        if found := write.world.store.find(f"{zone.id.text}/A/{record['recordSetName']}"):
            write.world.store.drop(found)


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
