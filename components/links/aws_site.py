"""A link between a region of AWS and one gateway of a site: two tunnels, their keys, logs and alarms."""

import json
from typing import Any, TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_random as random

from components.network.hub_tables import INWARD, OUTWARD
from components.tags import Owner

from . import alarms
from .connections import Connection, key_place, options
from .ends import RegionEnd

LOG_DAYS = 30
# AWS takes 8 to 64 letters, digits, periods and underscores, the first no 0: `key` puts a letter before these.
KEY_LETTERS = 40
# A group of this name needs no policy of its own in which the service is let in ("Logs sent to CloudWatch Logs").
LOGS = "/aws/vendedlogs"


class SiteLinkArgs(TypedDict):
    """`here` is the connection's region."""

    connection: Connection
    here: RegionEnd
    owner: Owner


class SiteLink(pulumi.ComponentResource):
    """`vpn` is the connection, whose outside addresses the site's gateway has to know."""

    def __init__(self, name: str, args: SiteLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:SiteLink", name, None, opts)
        self.name, self.connection, self.owner = name, args["connection"], args["owner"]
        self.child = pulumi.ResourceOptions(parent=self, provider=args["here"]["provider"])
        gateway = aws.ec2.CustomerGateway(
            name,
            type="ipsec.1",
            ip_address=self.connection.address,
            bgp_asn=str(self.connection.asn),
            tags=self.owner.tags(name),
            opts=self.child,
        )
        made: dict[str, Any] = options(one.inside_cidr for one in self.connection.tunnels)
        logs = {"log_enabled": True, "log_group_arn": self._log_group().arn, "log_output_format": "json"}
        keys = {tunnel.name: self._key(tunnel.number) for tunnel in self.connection.tunnels}
        for number, tunnel in enumerate(self.connection.tunnels, 1):
            made[f"tunnel{number}_preshared_key"] = keys[tunnel.name]
            # Switched on later they would interrupt the tunnel.
            made[f"tunnel{number}_log_options"] = {"cloudwatch_log_options": logs}
        self.vpn = aws.ec2.VpnConnection(
            name,
            customer_gateway_id=gateway.id,
            transit_gateway_id=args["here"]["hub_id"],
            tags=self.owner.tags(name),
            opts=self.child,
            **made,
        )
        self._keep(keys, args["here"]["key_arn"])
        self._join(args["here"]["table_ids"])
        self._watch()
        self.register_outputs({})

    def _key(self, number: int) -> pulumi.Output[str]:
        password = random.RandomPassword(
            f"{self.name}-{number}", length=KEY_LETTERS, special=False, opts=pulumi.ResourceOptions(parent=self)
        )
        return pulumi.Output.concat("k", password.result)

    def _log_group(self) -> aws.cloudwatch.LogGroup:
        return aws.cloudwatch.LogGroup(
            self.name,
            name=f"{LOGS}/{self.owner.fleet}/{self.owner.stack}/{self.name}",
            retention_in_days=LOG_DAYS,
            tags=self.owner.tags(self.name),
            opts=self.child,
        )

    def _keep(self, keys: dict[str, pulumi.Output[str]], key_arn: pulumi.Input[str]) -> None:
        secret = aws.secretsmanager.Secret(
            self.name,
            name=key_place(self.owner.fleet, self.connection),
            description=f"Keys of the tunnels of gateway {self.connection.number} of {self.connection.site}",
            kms_key_id=key_arn,
            # A name that waits for its end would keep the next connection from coming up.
            recovery_window_in_days=0,
            tags=self.owner.tags(self.name),
            opts=self.child,
        )
        text = pulumi.Output.all(**keys).apply(lambda told: json.dumps(told, sort_keys=True))
        aws.secretsmanager.SecretVersion(self.name, secret_id=secret.id, secret_string=text, opts=self.child)

    def _join(self, table_ids: dict[str, pulumi.Input[str]]) -> None:
        """What comes in finds the region alone; the region's network learns what BGP tells of the site."""
        attachment = self.vpn.transit_gateway_attachment_id
        aws.ec2transitgateway.RouteTableAssociation(
            self.name,
            transit_gateway_attachment_id=attachment,
            transit_gateway_route_table_id=table_ids[INWARD],
            opts=self.child,
        )
        aws.ec2transitgateway.RouteTablePropagation(
            self.name,
            transit_gateway_attachment_id=attachment,
            transit_gateway_route_table_id=table_ids[OUTWARD],
            opts=self.child,
        )

    def _watch(self) -> None:
        for alarm in alarms.ALARMS:
            name = f"{self.name}-{alarm.name}"
            aws.cloudwatch.MetricAlarm(
                name,
                name=self.owner.name(name, 255),
                alarm_description=f"{self.connection.site} to {self.connection.region}: {alarm.why}",
                namespace=alarms.NAMESPACE,
                metric_name=alarms.METRIC,
                dimensions={alarms.DIMENSION: self.vpn.id},
                statistic=alarm.statistic,
                comparison_operator=alarms.COMPARISON,
                threshold=alarms.THRESHOLD,
                period=alarms.PERIOD_SECONDS,
                evaluation_periods=alarm.periods,
                treat_missing_data="breaching",
                tags=self.owner.tags(name),
                opts=self.child,
            )
