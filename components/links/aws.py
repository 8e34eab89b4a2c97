"""Links between AWS regions."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from .names import resolves


class RegionEnd(TypedDict):
    """One region as links need it: its provider, and outputs of its stack."""

    provider: pulumi.ProviderResource
    network_id: pulumi.Input[str]
    zone_id: pulumi.Input[str]


class LinksArgs(TypedDict):
    """The regions, by name."""

    regions: Mapping[str, RegionEnd]


class Links(pulumi.ComponentResource):
    """Associations of private zones: a pool's machines must find the API of a cluster whose home is elsewhere."""

    def __init__(self, name: str, args: LinksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:Links", name, None, opts)
        for pair in resolves(args["regions"]):
            here = args["regions"][pair.here]
            aws.route53.ZoneAssociation(
                pair.name,
                zone_id=args["regions"][pair.there]["zone_id"],
                vpc_id=here["network_id"],
                vpc_region=pair.here,
                opts=pulumi.ResourceOptions(parent=self, provider=here["provider"]),
            )
        self.register_outputs({})
