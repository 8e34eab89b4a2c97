"""A VPN connection of AWS: its customer gateway, both tunnels with logs, its routes in the hub and its alarms."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_aws as aws

from components.network.hub_tables import INWARD, OUTWARD
from components.tags import Owner

from ..ends import RegionEnd
from . import alarms

LOG_DAYS = 30
# A group of this name needs no policy of its own in which the service is let in ("Logs sent to CloudWatch Logs").
LOGS = "/aws/vendedlogs"


class VpnArgs(TypedDict):
    """`address` and `asn` are the other end's, `options` those of `aws.ec2.VpnConnection`; `keys` are of both tunnels.

    `between` says for alarms what is joined.
    """

    here: RegionEnd
    address: pulumi.Input[str]
    asn: int
    options: Mapping[str, object]
    keys: Sequence[pulumi.Output[str]]
    between: str
    owner: Owner


def vpn(name: str, args: VpnArgs, parent: pulumi.Resource) -> aws.ec2.VpnConnection:
    """Registers all of it as children of `parent`."""
    owner, end = args["owner"], args["here"]
    child = pulumi.ResourceOptions(parent=parent, provider=end["provider"])
    gateway = aws.ec2.CustomerGateway(
        name,
        type="ipsec.1",
        ip_address=args["address"],
        bgp_asn=str(args["asn"]),
        tags=owner.tags(name),
        opts=child,
    )
    logs = aws.cloudwatch.LogGroup(
        name,
        name=f"{LOGS}/{owner.fleet}/{owner.stack}/{name}",
        retention_in_days=LOG_DAYS,
        tags=owner.tags(name),
        opts=child,
    )
    options = {"log_enabled": True, "log_group_arn": logs.arn, "log_output_format": "json"}
    made: dict[str, Any] = dict(args["options"])
    for number, one in enumerate(args["keys"], 1):
        made[f"tunnel{number}_preshared_key"] = one
        # Switched on later they would interrupt the tunnel.
        made[f"tunnel{number}_log_options"] = {"cloudwatch_log_options": options}
    connection = aws.ec2.VpnConnection(
        name,
        customer_gateway_id=gateway.id,
        transit_gateway_id=end["hub_id"],
        tags=owner.tags(name),
        opts=child,
        **made,
    )
    _join(name, connection, end["table_ids"], child)
    _watch(name, connection, args, child)
    return connection


def _join(
    name: str,
    connection: aws.ec2.VpnConnection,
    table_ids: Mapping[str, pulumi.Input[str]],
    child: pulumi.ResourceOptions,
) -> None:
    """What comes in finds the region alone; the region's network learns what BGP tells of the other end."""
    attachment = connection.transit_gateway_attachment_id
    aws.ec2transitgateway.RouteTableAssociation(
        name,
        transit_gateway_attachment_id=attachment,
        transit_gateway_route_table_id=table_ids[INWARD],
        opts=child,
    )
    aws.ec2transitgateway.RouteTablePropagation(
        name,
        transit_gateway_attachment_id=attachment,
        transit_gateway_route_table_id=table_ids[OUTWARD],
        opts=child,
    )


def _watch(of: str, connection: aws.ec2.VpnConnection, args: VpnArgs, child: pulumi.ResourceOptions) -> None:
    owner, told = args["owner"], list(args["here"]["told"]) or None
    for alarm in alarms.ALARMS:
        name = f"{of}-{alarm.name}"
        aws.cloudwatch.MetricAlarm(
            name,
            name=owner.name(name, 255),
            alarm_description=f"{args['between']}: {alarm.why}",
            namespace=alarms.NAMESPACE,
            metric_name=alarms.METRIC,
            dimensions={alarms.DIMENSION: connection.id},
            statistic=alarm.statistic,
            comparison_operator=alarms.COMPARISON,
            threshold=alarms.THRESHOLD,
            period=alarms.PERIOD_SECONDS,
            evaluation_periods=alarm.periods,
            treat_missing_data="breaching",
            alarm_actions=told,
            ok_actions=told,
            tags=owner.tags(name),
            opts=child,
        )
