"""A region as its links need it."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi


class RegionEnd(TypedDict):
    """One of AWS: its provider, its one route and outputs of its stack."""

    provider: pulumi.ProviderResource
    block: str
    network_id: pulumi.Input[str]
    zone_id: pulumi.Input[str]
    hub_id: pulumi.Input[str]
    table_ids: dict[str, pulumi.Input[str]]  # of the hub, by name
    key_arn: pulumi.Input[str]
    told: Sequence[str]  # what its alarms tell


class AzureEnd(TypedDict):
    """The same of Azure: `hub_addresses` are public ones, by instance; `group` is the region's, as its vault."""

    provider: pulumi.ProviderResource
    region: str
    group: str
    vault: str
    network_id: pulumi.Input[str]
    zone_name: str
    hub_id: pulumi.Input[str]
    hub_addresses: Sequence[pulumi.Input[str]]
    told: Sequence[str]
