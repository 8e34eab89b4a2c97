"""Clouds as the service asks them, one behind the other: a fleet bucket, a region's VPN connections, BGP,
quotas, images and shares.
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from fleet.quota_share import Share

from .aws import bucket as aws_bucket
from .aws import images as aws_images
from .aws import quotas as aws_quotas
from .aws import shares as aws_shares
from .aws import tunnels as aws_tunnels
from .azure import bgp as azure_bgp
from .azure import bucket as azure_bucket
from .azure import images as azure_images
from .azure import quotas as azure_quotas
from .azure import shares as azure_shares
from .azure import tunnels as azure_tunnels
from .metrics import Room


class Bucket(Protocol):
    def listed(self, prefix: str) -> list[str]:
        """Keys. Raises CloudError."""


class Tunnels(Protocol):
    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:
        """Of connections as their cloud names them: which part of each one's tunnels is up, 0 to 1. One that the cloud
        tells nothing of just now is not in it.

        Raises CloudError.
        """


class Peers(Protocol):
    def speak(self, named: Collection[tuple[str, str]], now: float) -> Mapping[tuple[str, str], float]:
        """Of gateways' ids with addresses of peers: which part of the gateway's instances speaks BGP with it, 0 to 1.
        What the cloud tells nothing of just now is not in it.

        Raises CloudError.
        """


class Quotas(Protocol):
    def told(self, named: Collection[str], now: float) -> Mapping[str, Share]:
        """Of quotas as their cloud names them. Raises CloudError."""


class Images(Protocol):
    def created(self, named: Collection[str]) -> Mapping[str, float]:
        """When that was made which something names, in the epoch. Raises CloudError."""


class Shares(Protocol):
    def room(self, named: Collection[str], now: float) -> Mapping[str, Room]:
        """Of shares or file systems as their cloud names them. One that it tells nothing of is not in it.

        Raises CloudError.
        """


def bucket(into: str, region: str) -> Bucket:
    """Raises ValueError for an address of neither form. Nobody is asked yet."""
    for cloud in (aws_bucket, azure_bucket):
        if found := cloud.INTO.fullmatch(into):
            opened: Bucket = cloud.Bucket(found[1], region)
            return opened
    raise ValueError(f"{into} is no fleet bucket: s3://BUCKET or https://ACCOUNT.blob.core.windows.net/fleet")


def tunnels(region: str, named: str) -> Tunnels:
    """`named` is one of the region's connections: Azure's are ids."""
    return azure_tunnels.Region(region) if named.startswith("/") else aws_tunnels.Region(region)


def peers(region: str, named: str) -> Peers:  # noqa: ARG001
    """Azure's alone: in AWS the state of tunnels is that of BGP, and their connections' own answer has their keys."""
    return azure_bgp.Region(region)


def quotas(region: str, named: str) -> Quotas:
    """`named` is one of the region's quotas."""
    return azure_quotas.Region(region) if named.startswith("/") else aws_quotas.Region(region)


def images(region: str, named: str) -> Images:
    """`named` is one of the region's: Azure's are ids."""
    return azure_images.Region(region) if named.startswith("/") else aws_images.Region(region)


def shares(region: str, named: str) -> Shares:
    """`named` is one of the region's: Azure's are ids of the resource manager."""
    return azure_shares.Region(region) if named.startswith("/") else aws_shares.Region(region)
