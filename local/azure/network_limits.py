"""Quotas of Microsoft.Network in a location, with what of them is used: told, as its list of usages tells them.

Azure documentation, "Azure networking limits"; azure-mgmt-network, `Usage`. None of them is enforced here. Another
limit is set with those of Compute (compute/limits.py), under the same names.
"""

import re
from collections.abc import Mapping
from typing import Any

from .compute import limits
from .kinds import World
from .requests import Read, Request

# Type → the quota's name, as people read it, and how many Azure gives by itself.
COUNTED = {
    "Microsoft.Network/virtualNetworks": ("VirtualNetworks", "Virtual Networks", 1_000),
    "Microsoft.Network/publicIPAddresses": (
        "IPv4StandardSkuPublicIpAddresses",
        "Public IPv4 Addresses - Standard",
        1_000,
    ),
}


def _usages(world: World, _: Request, found: re.Match[str]) -> Any:
    location, subscription = limits.known_location(found["location"]), found["subscription"]
    start = f"/subscriptions/{subscription}/providers/Microsoft.Network/locations/{location}/usages"
    return {
        "value": [
            {
                "id": f"{start}/{name}",
                "unit": "Count",
                "currentValue": sum(
                    one.location == location for one in world.store.all(kind, f"/subscriptions/{subscription}")
                ),
                "limit": limits.quota(location, name, by_itself),
                "name": {"value": name, "localizedValue": readable},
            }
            for kind, (name, readable, by_itself) in COUNTED.items()
        ]
    }


READS: Mapping[str, Read] = {
    r"/subscriptions/(?P<subscription>[^/]+)/providers/microsoft\.network/locations/(?P<location>[^/]+)/usages": _usages
}
