"""A link between a region of AWS and one of Azure: four tunnels, two at each instance of Azure's gateway."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi

from components.tags import Owner
from fleet import hubs

from . import keys as of_tunnels
from .aws import vpn as aws_vpn
from .aws.cross_cloud import CrossCloudConnection, tunnel_options
from .azure import vpn as azure_vpn
from .azure.connections import OtherEnd
from .ends import AzureEnd, RegionEnd


class CrossingLinkArgs(TypedDict):
    """`connections` are AWS's with both instances, `ends` AWS's four as Azure knows them."""

    connections: Sequence[CrossCloudConnection]
    ends: Sequence[OtherEnd]
    aws: RegionEnd
    azure: AzureEnd
    owner: Owner


class CrossingLink(pulumi.ComponentResource):
    """Keys are nobody's but the two clouds': none is kept anywhere else."""

    def __init__(self, name: str, args: CrossingLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:CrossingLink", name, None, opts)
        owner = args["owner"]
        for one in args["connections"]:
            keys = [of_tunnels.key(f"{name}-{tunnel.number}", self) for tunnel in one.tunnels]
            connection = aws_vpn.vpn(
                one.name,
                {
                    "here": args["aws"],
                    "address": args["azure"]["hub_addresses"][one.instance],
                    "asn": hubs.asn(one.azure),
                    "options": tunnel_options(one),
                    "keys": keys,
                    "between": f"{one.aws} to {one.azure}",
                    "owner": owner,
                },
                self,
            )
            outside = (connection.tunnel1_address, connection.tunnel2_address)
            for tunnel, address, key in zip(one.tunnels, outside, keys, strict=True):
                end = next(end for end in args["ends"] if end.tunnel == tunnel)
                azure_vpn.vpn({"here": args["azure"], "end": end, "address": address, "key": key, "owner": owner}, self)
        self.register_outputs({})
