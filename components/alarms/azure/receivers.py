"""Whom a region's alarms reach on Azure: an action group that mails to addresses."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner
from fleet.cloud_alarms import called, short
from fleet.model import Fleet


class ReceiversArgs(TypedDict):
    """`group` is the region's resource group."""

    fleet: Fleet
    group: pulumi.Input[str]
    owner: Owner


class Receivers(pulumi.ComponentResource):
    """Alarms name it by `fleet.cloud_alarms.told`."""

    def __init__(self, name: str, args: ReceiversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:alarms:AzureReceivers", name, None, opts)
        fleet = args["fleet"]
        azure.monitor.ActionGroup(
            name,
            action_group_name=called(fleet),
            resource_group_name=args["group"],
            location="global",
            group_short_name=short(fleet),
            enabled=True,
            email_receivers=[
                # Names are for the group alone; without the common schema each kind of alarm has a mail of its own.
                {"name": f"mail-{n}", "email_address": address, "use_common_alert_schema": True}
                for n, address in enumerate(fleet.cloud_alarms, 1)
            ],
            tags=args["owner"].tags(name),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
