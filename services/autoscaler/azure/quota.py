"""Whether Azure's quotas leave room for more machines: pure.

Azure documentation, "Quotas - Azure Virtual Machines": vCPUs on demand count for their family and for the region, those
of spot machines for a row of their own. A request that is too large fails minutes later, when another pool could have
been asked at once.
"""

from collections.abc import Iterable
from typing import Any

from fleet.azure.sizes import size

REGIONAL, SPOT = "cores", "lowPriorityCores"


def lacking(usage: Iterable[Any], shape: str, more: int, *, spot: bool) -> str:
    """Which quota is too small for so many more machines of a shape, as Azure would say it; empty where all have room,
    or where nobody knows how large the shape is. `usage` is Azure's list of a region, of which a row may be missing.
    """
    if (known := size(shape)) is None:
        return ""
    rows = (SPOT,) if spot else (known.family, REGIONAL)
    left = {str(one.name.value).lower(): one for one in usage if one.name}
    for row in rows:
        found = left.get(row.lower())
        if found and found.current_value + more * known.cpus > found.limit:
            return (
                f"QuotaExceeded: {more} more of {shape} need {more * known.cpus} vCPUs, and of the {found.limit} in "
                f"the quota {row} {found.current_value} are used"
            )
    return ""
