"""A link between a region of Azure and one gateway of a site: a connection of two tunnels, and their key."""

import json
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

from ..connections import Connection
from ..ends import AzureEnd
from ..keys import key
from . import alarms
from .connections import OtherEnd, key_name
from .vpn import vpn


class SiteLinkArgs(TypedDict):
    """`here` is the connection's region, `end` the gateway as Azure knows it."""

    connection: Connection
    end: OtherEnd
    here: AzureEnd
    owner: Owner


class SiteLink(pulumi.ComponentResource):
    """`vpn` is Azure's part of `connection`. The gateway reaches both instances of the hub, at its public addresses.

    `secret` is the name of the secret with the key.
    """

    def __init__(self, name: str, args: SiteLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:SiteLink", name, None, opts)
        here, owner, connection = args["here"], args["owner"], args["connection"]
        self.connection = connection
        one = key(name, self)
        self.vpn = vpn(
            {"here": here, "end": args["end"], "address": connection.address, "key": one, "owner": owner}, self
        )
        names = [tunnel.name for tunnel in connection.tunnels]
        # A vault keeps the name of what was deleted for as long as its purge protection says.
        self.secret = pulumi.Output.unsecret(
            one.apply(lambda pre_shared_key: key_name(owner.fleet, connection, pre_shared_key))
        )
        azure.keyvault.Secret(
            name,
            secret_name=self.secret,
            vault_name=here["vault"],
            resource_group_name=here["group"],
            properties={
                "content_type": "application/json",
                "value": one.apply(
                    lambda pre_shared_key: json.dumps(dict.fromkeys(names, pre_shared_key), sort_keys=True)
                ),
            },
            tags=owner.tags(name),
            opts=pulumi.ResourceOptions(parent=self, provider=here["provider"]),
        )
        self._watch(args["end"], here, owner)
        self.register_outputs({})

    def _watch(self, end: OtherEnd, here: AzureEnd, owner: Owner) -> None:
        for alarm in alarms.ALARMS:
            name = f"{end.name}-{alarm.name}"
            azure.monitor.MetricAlert(
                name,
                rule_name=owner.name(name, 260),
                resource_group_name=here["group"],
                location="global",
                description=f"{self.connection.site} to {self.connection.region}: {alarm.why}",
                enabled=True,
                severity=alarm.severity,
                scopes=[here["hub_id"]],
                target_resource_type=alarms.TARGET,
                target_resource_region=here["region"],
                evaluation_frequency=alarms.EVERY,
                window_size=alarm.window,
                criteria=alarms.criteria(alarm, end.bgp_address),
                auto_mitigate=True,
                actions=[{"action_group_id": group} for group in here["told"]],
                tags=owner.tags(name),
                # Until it speaks with the other end, Azure knows no such peer.
                opts=pulumi.ResourceOptions(parent=self, provider=here["provider"], depends_on=[self.vpn]),
            )
