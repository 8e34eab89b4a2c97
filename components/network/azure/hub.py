"""A region's hub on Azure: the VPN gateway that tunnels to sites and to other clouds end at.

Two instances carry at the same time (active-active), each with a public address of its own. Only AZ SKUs can be made
(Azure docs, "VPN Gateway SKU consolidation"), and a generation 2 gateway carries what a site's gateway can.
"""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

SKU, GENERATION = "VpnGw2AZ", "Generation2"
INSTANCES = (1, 2)
# Of all zones, whichever the fleet uses: Azure changes none of an address that is there.
ZONES = ["1", "2", "3"]


class HubArgs(TypedDict):
    """`subnet_id` is the GatewaySubnet's; `inside` are the instances' addresses in tunnels, by the plan."""

    region: str
    asn: int
    inside: tuple[tuple[str, ...], tuple[str, ...]]
    subnet_id: pulumi.Input[str]
    group: pulumi.Input[str]
    owner: Owner


class Hub(pulumi.ComponentResource):
    """`addresses` are the instances' public ones, in their order.

    A connection can only name inside addresses that the gateway has, so these come with it, whatever links there are.
    """

    def __init__(self, name: str, args: HubArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Hub", name, None, opts)
        owner, child = args["owner"], pulumi.ResourceOptions(parent=self)
        self.addresses = [
            azure.network.PublicIPAddress(
                f"hub-{n}",
                public_ip_address_name=owner.name(f"hub-{n}", 80),
                resource_group_name=args["group"],
                location=args["region"],
                sku={"name": "Standard", "tier": "Regional"},
                public_ip_allocation_method="Static",
                zones=ZONES,
                tags=owner.tags(f"hub-{n}"),
                opts=child,
            )
            for n in INSTANCES
        ]
        self.gateway = azure.network.VirtualNetworkGateway(
            "hub",
            virtual_network_gateway_name=owner.name("hub", 80),
            resource_group_name=args["group"],
            location=args["region"],
            gateway_type="Vpn",
            vpn_type="RouteBased",
            vpn_gateway_generation=GENERATION,
            sku={"name": SKU, "tier": SKU},
            active_active=True,
            enable_bgp=True,
            bgp_settings={
                "asn": args["asn"],
                "bgp_peering_addresses": [
                    {"ipconfiguration_id": f"$self/ipConfigurations/hub-{n}", "custom_bgp_ip_addresses": list(inside)}
                    for n, inside in zip(INSTANCES, args["inside"], strict=True)
                ],
            },
            ip_configurations=[
                {
                    "name": f"hub-{n}",
                    "private_ip_allocation_method": "Dynamic",
                    "subnet": {"id": args["subnet_id"]},
                    "public_ip_address": {"id": address.id},
                }
                for n, address in zip(INSTANCES, self.addresses, strict=True)
            ],
            tags=owner.tags("hub"),
            opts=child,
        )
        self.register_outputs({})
