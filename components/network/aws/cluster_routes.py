"""The way from a region's network to a cluster on AWS: in the stack of whatever brings the cluster there."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws


class ClusterRoutesArgs(TypedDict):
    """`cidr` is the cluster's aggregate; `tables`, by name, and `hub_id` are outputs of the region."""

    cidr: str
    tables: dict[str, pulumi.Input[str]]
    hub_id: pulumi.Input[str]


class ClusterRoutes(pulumi.ComponentResource):
    """One route to the hub in every route table of the region."""

    def __init__(self, name: str, args: ClusterRoutesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:ClusterRoutes", name, None, opts)
        for table, id_ in args["tables"].items():
            aws.ec2.Route(
                table,
                route_table_id=id_,
                destination_cidr_block=args["cidr"],
                transit_gateway_id=args["hub_id"],
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})
