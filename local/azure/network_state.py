"""What of Azure decides where a packet goes: virtual networks with their tables, groups and peers, gateways, tunnels.

As JSON, for `local.network`, which makes routers of it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from local.network.routers import short_name
from local.network.tunnels import digest

from . import addresses, ids, packet_rules
from .kinds import World
from .resources import balancers, peerings, private_endpoints
from .resources.bgp_peers import CONNECTION
from .resources.interfaces import INTERFACE
from .resources.network import NETWORK
from .resources.public_addresses import NAT
from .resources.routes import ROUTE
from .resources.security import TAG
from .resources.subnets import GATEWAY as GATEWAY_SUBNET
from .resources.subnets import SUBNET
from .resources.vpn_gateways import GATEWAY
from .store import Resource

# Of a resource that is not there yet, or that came to nothing.
UNDONE = ("Creating", "Failed")
# Subnets whose groups judge what comes to private endpoints.
JUDGES_ENDPOINTS = ("Enabled", "NetworkSecurityGroupEnabled")
# An endpoint of shares has no API behind it.
FILES = "file"


class IpConfiguration(NamedTuple):
    """A configuration of an interface, and the group of the interface's own."""

    properties: Mapping[str, Any]
    group: str | None
    endpoint: bool


def router(network: str) -> str:
    """The name of a network's router, by the network's id."""
    return short_name("azure-", network.lower())


def network_of(subnet: str) -> str:
    """The router's name, by a subnet's id."""
    parent = ids.parse(subnet).parent
    assert parent
    return router(parent.text)


def vnets(world: World) -> Iterator[dict[str, Any]]:
    configurations, groups = _ip_configurations(world), packet_rules.groups(world)
    for network in world.store.all(NETWORK):
        subnets = list(world.store.children(network, SUBNET))
        interfaces = [one for subnet in subnets for one in _interfaces(world, subnet, configurations)]
        yield {
            "id": router(network.id.text),
            "cidrs": list(network.properties["addressSpace"]["addressPrefixes"]),
            "subnets": [_subnet(world, one) for one in subnets],
            "interfaces": interfaces,
            "endpoints": list(_endpoints(world, network)),
            "peers": list(_peers(world, network)),
            "gateway": _gateway_of(world, network),
            "groups": {name: groups[name] for name in sorted({name for one in interfaces for name in one["groups"]})},
        }


def _ip_configurations(world: World) -> dict[str, IpConfiguration]:
    """Of interfaces that are resources, and of scale sets' machines, by the configuration's id in small letters."""
    theirs = world.store.all(private_endpoints.ENDPOINT)
    of_endpoints = {
        str(nic_reference["id"]).lower() for one in theirs for nic_reference in one.properties["networkInterfaces"]
    }
    nics = [(one.id.key, one.properties) for one in world.store.all(INTERFACE)]
    machines = [one.state.get("interfaces", ()) for one in world.store.all()]
    nics += [(str(nic["id"]).lower(), nic["properties"]) for found in machines for nic in found]
    return {
        str(one["id"]).lower(): IpConfiguration(
            one["properties"], _id(nic, "networkSecurityGroup"), key in of_endpoints
        )
        for key, nic in nics
        for one in nic.get("ipConfigurations") or ()
    }


def _id(of: Mapping[str, Any], at: str) -> str | None:
    return str(of[at]["id"]).lower() if of.get(at) else None


def _subnet(world: World, subnet: Resource) -> dict[str, Any]:
    """`routes` are the user's; `learns`: the gateway tells it its own as well."""
    table = world.store.find(_id(subnet.properties, "routeTable") or "")
    routes = [one.properties for one in world.store.children(table, ROUTE)] if table else []
    return {
        "cidr": str(addresses.prefix(subnet)),
        "routes": [
            {"cidr": one["addressPrefix"], "hop": one["nextHopType"]}
            for one in routes
            if not TAG.fullmatch(one["addressPrefix"])
        ],
        "learns": not (table and table.properties["disableBgpRoutePropagation"]),
    }


def _interfaces(
    world: World, subnet: Resource, configurations: Mapping[str, IpConfiguration]
) -> Iterator[dict[str, Any]]:
    """All that has an address but balancers, which only lead on: `groups` judge it, the subnet's first; `outward`: it
    reaches the internet.
    """
    nat = world.store.find(_id(subnet.properties, "natGateway") or "")
    out = bool(nat and ids.same(nat.id.type, NAT) and nat.properties["publicIpAddresses"])
    out = out or subnet.properties.get("defaultOutboundAccess") is not False
    of_subnet = _id(subnet.properties, "networkSecurityGroup")
    policy = subnet.properties.get("privateEndpointNetworkPolicies")
    for entry in addresses.allocated(world, subnet):
        if f"/{balancers.FRONTENDS}/".lower() in entry.by.lower():
            continue
        nic = configurations.get(entry.by.lower(), IpConfiguration({}, None, endpoint=False))
        groups = [one for one in (of_subnet, nic.group) if one]
        within = [str(one["id"]).lower() for one in nic.properties.get("applicationSecurityGroups") or ()]
        yield {
            "address": entry.address,
            "groups": groups if not nic.endpoint or policy in JUDGES_ENDPOINTS else [],
            "within": within,
            "outward": out or bool(nic.properties.get("publicIPAddress")),
        }


def _endpoints(world: World, network: Resource) -> Iterator[dict[str, Any]]:
    """Private endpoints of services that the local cloud answers for."""
    for one in world.store.all(private_endpoints.ENDPOINT):
        (connection,) = one.properties["privateLinkServiceConnections"]
        nic = world.store.find(one.properties["networkInterfaces"][0]["id"])
        api = FILES not in connection["properties"]["groupIds"]
        if nic and api and _within(one.properties["subnet"]["id"], network):
            found = [
                configuration["properties"]["privateIPAddress"] for configuration in nic.properties["ipConfigurations"]
            ]
            yield {"addresses": found}


def _within(subnet: str, network: Resource) -> bool:
    return subnet.lower().startswith(f"{network.id.key}/")


def _halves(world: World, network: Resource) -> Iterator[tuple[Resource, Resource]]:
    """Peerings of which both halves are connected: this network's, and the other one's."""
    for one in world.store.children(network, peerings.PEERING):
        half = peerings.back(world, one)
        if half and all(each.properties.get("peeringState") == "Connected" for each in (one, half)):
            yield one, half


def _peers(world: World, network: Resource) -> Iterator[dict[str, Any]]:
    """`cidrs` are what the other one had when the peering was last written; `open`: to groups it is of this network."""
    here = router(network.id.text)
    for one, _ in _halves(world, network):
        there = router(one.properties["remoteVirtualNetwork"]["id"])
        yield {
            "to": there,
            "cidrs": list(one.state["remote"]),
            "open": one.properties["allowVirtualNetworkAccess"],
            "forwarded": one.properties["allowForwardedTraffic"],
            "wire": " ".join(sorted((here, there))),
        }


def _gateways_in(world: World, network: Resource) -> Iterator[Resource]:
    subnet = f"{network.id.key}/subnets/{GATEWAY_SUBNET.lower()}"
    for one in world.store.all(GATEWAY):
        found = one.properties["ipConfigurations"][0]["properties"]["subnet"]["id"]
        if found.lower() == subnet and one.properties.get("provisioningState") not in UNDONE:
            yield one


def _gateway_of(world: World, network: Resource) -> str | None:
    """Its own, or a peer's that it uses."""
    found = list(_gateways_in(world, network))
    for one, half in _halves(world, network):
        if one.properties["useRemoteGateways"] and half.properties["allowGatewayTransit"] and half.id.parent:
            found += _gateways_in(world, world.store.get(half.id.parent))
    return router(found[0].id.text) if found else None


def gateways(world: World) -> Iterator[dict[str, Any]]:
    """VPN gateways with the networks that use them, by routers' names."""
    users = {router(one.id.text): _gateway_of(world, one) for one in world.store.all(NETWORK)}
    for gateway in world.store.all(GATEWAY):
        if gateway.properties.get("provisioningState") not in UNDONE:
            name = router(gateway.id.text)
            yield {
                "id": name,
                "asn": gateway.properties["bgpSettings"]["asn"],
                "networks": [network for network, used in users.items() if used == name],
                "connections": list(_connections(world, gateway)),
            }


def _connections(world: World, gateway: Resource) -> Iterator[dict[str, Any]]:
    """With gateways that are not Azure's. An end's `asked` is what a person wants it to be; None: as its ends are."""
    for one in world.store.all(CONNECTION):
        properties = one.properties
        other = world.store.find(_id(properties, "localNetworkGateway2") or "")
        if other is None or _id(properties, "virtualNetworkGateway1") != gateway.id.key:
            continue
        if properties.get("provisioningState") in UNDONE:
            continue
        bgp = other.properties.get("bgpSettings") or {}
        yield {
            "id": one.id.text,
            "address": other.properties.get("gatewayIpAddress"),
            "asn": bgp.get("asn"),
            "bgp_address": bgp.get("bgpPeeringAddress"),
            "bgp": properties["enableBgp"],
            "key": digest(properties["sharedKey"]),
            "answers": properties["connectionMode"] == "ResponderOnly",
            "ends": list(_ends(gateway, one)),
        }


def _ends(gateway: Resource, connection: Resource) -> Iterator[dict[str, Any]]:
    """The gateway's instances, as they stand at a connection."""
    custom = {
        one["ipConfigurationId"].lower(): one["customBgpIpAddress"]
        for one in connection.properties["gatewayCustomBgpIpAddresses"]
    }
    overrides: Mapping[str, str] = connection.state.get("asked", {})
    for one in gateway.properties["bgpSettings"]["bgpPeeringAddresses"]:
        (outside,) = one["tunnelIpAddresses"]
        yield {
            "outside": outside,
            "inside": custom.get(one["ipconfigurationId"].lower(), one["defaultBgpIpAddresses"][0]),
            "asked": overrides[outside] == "Connected" if outside in overrides else None,
        }
