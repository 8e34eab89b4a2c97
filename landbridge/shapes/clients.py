"""Clients of both clouds for what fleets ask of them, as the user is signed in."""

from typing import Any

from botocore.config import Config

from fleet.model import Fleet
from landbridge.clouds.aws import lookups

from .asked import Sources

# Who waits for it sees nothing else meanwhile.
HASTY = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 2})


def aws_clients(fleet: Fleet, region: str, *, local: bool) -> lookups.ClientOf:
    """The local cloud is many accounts at once, and has to be told which is meant."""
    account = fleet.aws.account_id if fleet.aws and local else None
    return lookups.clients(region, account, HASTY)


def azure_clients(fleet: Fleet) -> Any:
    """Of the fleet's subscription."""
    from landbridge.clouds.azure.clients import Clients  # a second of imports that few runs need

    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    return Clients(fleet.azure.subscription_id, hasty=True)


def signed_in(fleet: Fleet, *, local: bool) -> Sources:
    return Sources(lambda region: aws_clients(fleet, region, local=local)("ec2"), lambda: azure_clients(fleet).compute)
