"""A region as its links need it."""

from typing import TypedDict

import pulumi


class RegionEnd(TypedDict):
    """Its provider, its one route and outputs of its stack."""

    provider: pulumi.ProviderResource
    block: str
    network_id: pulumi.Input[str]
    zone_id: pulumi.Input[str]
    hub_id: pulumi.Input[str]
    table_ids: dict[str, pulumi.Input[str]]  # of the hub, by name
    key_arn: pulumi.Input[str]
