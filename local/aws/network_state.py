"""What of EC2 decides where a packet goes: networks with their route tables and security groups, hubs, tunnels.

As JSON, for `local.network`, which makes routers of it.
"""

from collections.abc import Iterator
from typing import Any

from local.network.tunnels import digest

from .extensions import vpn
from .extensions.hub_tables import GONE, tables

ALL = "-1"


def networks(backend: Any) -> Iterator[dict[str, Any]]:
    """Those that somebody has made; every account's default ones are nobody's."""
    for vpc in list(backend.vpcs.values()):
        if not vpc.is_default:
            subnets = [one for zone in list(backend.subnets.values()) for one in list(zone.values())]
            subnets = [one for one in subnets if one.vpc_id == vpc.id]
            yield {
                "id": vpc.id,
                "cidrs": [one["cidr_block"] for one in vpc.get_cidr_block_association_set()],
                "subnets": [{"cidr": one.cidr_block, "routes": list(_routes(backend, one))} for one in subnets],
                "interfaces": list(_interfaces(backend, vpc.id)),
                "endpoints": list(_endpoints(backend, vpc.id)),
                "groups": {id_: _group(one) for id_, one in list(backend.groups[vpc.id].items())},
            }


def hubs(backend: Any) -> Iterator[dict[str, Any]]:
    for hub in list(backend.transit_gateways.values()):
        if hub.state not in GONE:
            mine = [one for one in tables(backend) if one.transit_gateway_id == hub.id]
            yield {
                "id": hub.id,
                "asn": int(hub.options["AmazonSideAsn"]),
                "attachments": list(_attachments(backend, hub.id, mine)),
                "tables": {one.id: {"routes": list(_hub_routes(one)), "learns": _learns(one)} for one in mine},
            }


def _routes(backend: Any, subnet: Any) -> Iterator[dict[str, Any]]:
    """To hubs, of the subnet's own table or, where it has none, of the network's main one."""
    found = [one for one in list(backend.route_tables.values()) if one.vpc_id == subnet.vpc_id]
    own = [one for one in found if any(to.get("SubnetId") == subnet.id for to in one.associations)]
    for table in (own or [one for one in found if one.main_association_id])[:1]:
        for route in list(table.routes):
            if route.local or not route.destination_cidr_block:
                continue
            if route.transit_gateway:
                yield {"cidr": route.destination_cidr_block, "hub": route.transit_gateway.id}


def _interfaces(backend: Any, vpc: str) -> Iterator[dict[str, Any]]:
    # moto gives an endpoint's interfaces the network's default group, whatever was asked for.
    groups_of = {
        name: one.security_group_ids for one in _of_services(backend, vpc) for name in one.network_interface_ids
    }
    for one in list(backend.enis.values()):
        if one.subnet.vpc_id == vpc and one.private_ip_address:
            groups = groups_of.get(one.id) or [group.id for group in one.group_set]
            # An interface without groups is one that AWS asks none for: a NAT gateway's.
            yield {"address": one.private_ip_address, "groups": sorted(groups)}


def _endpoints(backend: Any, vpc: str) -> Iterator[dict[str, Any]]:
    """Interface endpoints: `named` is the service whose public name leads there."""
    for one in _of_services(backend, vpc):
        found = [backend.enis[name].private_ip_address for name in one.network_interface_ids if name in backend.enis]
        service = one.service_name.rpartition(".")[2] if one.private_dns_enabled else None
        yield {"named": service, "region": backend.region_name, "addresses": sorted(found)}


def _of_services(backend: Any, vpc: str) -> Iterator[Any]:
    for one in list(backend.vpc_end_points.values()):
        if (one.vpc_id, one.vpc_endpoint_type) == (vpc, "Interface") and one.state != "deleted":
            yield one


def _group(group: Any) -> dict[str, Any]:
    return {"in": [_rule(one) for one in group.ingress_rules], "out": [_rule(one) for one in group.egress_rules]}


def _rule(rule: Any) -> dict[str, Any]:
    ports = None if rule.ip_protocol == ALL else [rule.from_port, rule.to_port]
    return {
        "protocol": rule.ip_protocol,
        "ports": ports,
        "cidr": rule.cidr_ipv4,
        "group": (rule.source_group or {}).get("GroupId"),
    }


def _attachments(backend: Any, hub: str, mine: list[Any]) -> Iterator[dict[str, Any]]:
    """`to` is a network, a connection, or the hub at the other end; moto keeps a peering with both of its hubs."""
    for one in list(backend.transit_gateway_attachments.values()):
        ends = [getattr(one, name, {}).get("TransitGatewayId") for name in ("requester_tgw_info", "accepter_tgw_info")]
        if one.state == "available" and hub in (one.transit_gateway_id, *ends):
            table = next((each.id for each in mine if one.id in each.route_table_associations), None)
            to = next((end for end in ends if end and end != hub), one.resource_id)
            yield {"id": one.id, "kind": one.resource_type, "to": to, "table": table}


def _hub_routes(table: Any) -> Iterator[dict[str, Any]]:
    for cidr, route in list(table.routes.items()):
        if route["state"] == "active":
            ends = [one["transitGatewayAttachmentId"] for one in route.get("transitGatewayAttachments") or ()]
            yield {"cidr": cidr, "attachments": ends}


def _learns(table: Any) -> list[str]:
    return [one.transitGatewayAttachmentId for one in table.route_table_propagation]


def connections(backend: Any) -> Iterator[dict[str, Any]]:
    """`asked` is what a person wants a tunnel to be; None: as its ends are."""
    for one in list(backend.vpn_connections.values()):
        if one.state not in GONE and one.transit_gateway_id and one.options:
            device = backend.get_customer_gateway(one.customer_gateway_id)
            yield {
                "id": one.id,
                "hub": one.transit_gateway_id,
                "device": device.ip_address,
                "asn": int(device.bgp_asn),
                "tunnels": [_tunnel(tunnel) for tunnel in one.options["TunnelOptions"]],
            }


def _tunnel(tunnel: Any) -> dict[str, Any]:
    return {
        "outside": tunnel["OutsideIpAddress"],
        "asked": vpn.wanted_state(tunnel["OutsideIpAddress"]),
        "inside": tunnel["TunnelInsideCidr"],
        "key": digest(tunnel["PreSharedKey"]),
        "begins": tunnel["StartupAction"] == "start",
    }
