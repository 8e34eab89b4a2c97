"""A VPN connection of Azure: its local network gateway, and all settings of what Azure would have defaults for."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.network.azure.hub import INSTANCES
from components.tags import Owner

from .. import tunnel_settings
from ..ends import AzureEnd
from .connections import DPD_SECONDS, MODE, OtherEnd


class VpnArgs(TypedDict):
    """`address` is the other end's public one, `key` that of all tunnels."""

    here: AzureEnd
    end: OtherEnd
    address: pulumi.Input[str]
    key: pulumi.Output[str]
    owner: Owner


def vpn(args: VpnArgs, parent: pulumi.Resource) -> azure.network.VirtualNetworkGatewayConnection:
    """Registers both as children of `parent`, under the name of the other end."""
    end, here, owner = args["end"], args["here"], args["owner"]
    child = pulumi.ResourceOptions(parent=parent, provider=here["provider"])
    beyond = azure.network.LocalNetworkGateway(
        end.name,
        local_network_gateway_name=owner.name(end.name, 80),
        resource_group_name=here["group"],
        location=here["region"],
        gateway_ip_address=args["address"],
        # BGP tells what is there.
        local_network_address_space={"address_prefixes": []},
        bgp_settings={"asn": end.asn, "bgp_peering_address": end.bgp_address},
        tags=owner.tags(end.name),
        opts=child,
    )
    return azure.network.VirtualNetworkGatewayConnection(
        end.name,
        virtual_network_gateway_connection_name=owner.name(end.name, 80),
        resource_group_name=here["group"],
        location=here["region"],
        connection_type="IPsec",
        connection_protocol="IKEv2",
        connection_mode=MODE,
        virtual_network_gateway1={"id": here["hub_id"]},
        local_network_gateway2={"id": beyond.id},
        enable_bgp=True,
        gateway_custom_bgp_ip_addresses=[
            {
                "custom_bgp_ip_address": address,
                "ip_configuration_id": pulumi.Output.concat(here["hub_id"], f"/ipConfigurations/hub-{instance}"),
            }
            for instance, address in zip(INSTANCES, end.instances, strict=True)
        ],
        ipsec_policies=[tunnel_settings.AZURE],
        use_policy_based_traffic_selectors=False,
        dpd_timeout_seconds=DPD_SECONDS,
        shared_key=args["key"],
        tags=owner.tags(end.name),
        opts=child,
    )
