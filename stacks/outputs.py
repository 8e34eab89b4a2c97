"""The contract between stacks: what one kind publishes and another reads. No output is a secret.

Both sides use this module, so a field that one side lacks is an error of the type checker, not of an `up`.
"""

from typing import Any, TypedDict, cast

import pulumi

from .catalogue import PROJECT


class RegionOutputs(TypedDict):
    """What a region stack publishes. Ids are the cloud's own."""

    # for clusters, pools and links
    cloud: str
    network_id: pulumi.Input[str]
    network_cidr: str
    private_subnet_ids: dict[str, pulumi.Input[str]]  # by zone letter
    public_subnet_ids: dict[str, pulumi.Input[str]]  # by zone letter
    route_table_ids: dict[str, pulumi.Input[str]]  # by name: public, private, private-ZONE
    # for links
    hub_id: pulumi.Input[str]
    hub_asn: int
    hub_attachment_id: pulumi.Input[str]
    # for names
    zone_id: pulumi.Input[str]
    zone_name: str
    # for machines
    bucket: str
    key_arn: pulumi.Input[str]
    endpoint_ids: dict[str, pulumi.Input[str]]  # by name: s3, s3-interface, …
    # for mounts
    shares_id: pulumi.Input[str]
    share_ids: dict[str, pulumi.Input[str]]  # access points by share
    share_addresses: dict[str, str]  # mount targets' addresses by zone letter


def publish(outputs: RegionOutputs) -> None:
    """Exports every field under its own name."""
    for name, value in outputs.items():
        pulumi.export(name, value)


async def region_outputs(region: str) -> RegionOutputs:
    """Reads a region stack's outputs. Raises LookupError when that stack lacks a field: it is of an older version."""
    reference = pulumi.StackReference(f"organization/{PROJECT}/{region}")
    found: dict[str, Any] = {}
    for name in RegionOutputs.__annotations__:
        details = await reference.get_output_details(name)
        if details.value is None:
            raise LookupError(f"stack {region} publishes no {name}: run `landbridge up {region}` first")
        found[name] = details.value
    return cast(RegionOutputs, found)
