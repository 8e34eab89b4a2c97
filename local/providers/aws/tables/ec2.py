"""What all of EC2's entries share."""

from dataclasses import replace

from ..kinds import ID, TAGS, Call, Tagging

# Launch templates are not among them: moto takes their tags for those of their machines.
CREATED = {
    "allocate_address": "elastic-ip",
    "authorize_security_group_egress": "security-group-rule",
    "authorize_security_group_ingress": "security-group-rule",
    "create_customer_gateway": "customer-gateway",
    "create_flow_logs": "vpc-flow-log",
    "create_internet_gateway": "internet-gateway",
    "create_nat_gateway": "natgateway",
    "create_network_interface": "network-interface",
    "create_route_table": "route-table",
    "create_security_group": "security-group",
    "create_subnet": "subnet",
    "create_transit_gateway": "transit-gateway",
    "create_transit_gateway_peering_attachment": "transit-gateway-attachment",
    "create_transit_gateway_route_table": "transit-gateway-route-table",
    "create_transit_gateway_vpc_attachment": "transit-gateway-attachment",
    "create_volume": "volume",
    "create_vpc": "vpc",
    "create_vpc_endpoint": "vpc-endpoint",
    "create_vpn_connection": "vpn-connection",
}
TAGGING = Tagging(
    add=Call("create_tags", {"Resources": [ID], "Tags": TAGS}),
    remove=Call("delete_tags", {"Resources": [ID], "Tags": TAGS}),
    created=CREATED,
)

# For descriptions that moto leaves tags out of.
TAGGING_APART = replace(
    TAGGING, read=Call("describe_tags", {"Filters": [{"Name": "resource-id", "Values": [ID]}]}, "Tags")
)
