"""Who reaches the data of an account or a vault by the network, before anybody asks who it is.

Which network a caller is in is not known here: what is closed to the public lets nobody in, not by rules for addresses
and subnets either, until an approved private endpoint leads there, and then everybody.
"""

from .kinds import World
from .resources.storage_accounts import connections
from .store import Resource


def public(resource: Resource) -> bool:
    """Whether all the world may come."""
    properties = resource.properties
    allows = (properties.get("networkAcls") or {}).get("defaultAction", "Allow") == "Allow"
    return bool(allows and properties.get("publicNetworkAccess", "Enabled") == "Enabled")


def lets_in(world: World, resource: Resource, group: str) -> bool:
    """`group` is that of private endpoints: blob, file, vault …"""
    return public(resource) or any(
        properties["privateLinkServiceConnectionState"]["status"] == "Approved" and group in properties["groupIds"]
        for properties in (one["properties"] for one in connections(world, resource)["privateEndpointConnections"])
    )
