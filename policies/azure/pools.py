"""Scale sets on Azure: what a pool's must be, so that nothing but the autoscaler takes its machines."""

import json
from collections.abc import Iterator
from typing import Any

from fleet.model import Pool
from fleet.world import World

from ..pool_settings import ALONE, UNTOLD, Judge, only
from ..reading import Finding, Item, finding, of_types

SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
SPOT, REGULAR, DELETE, ANY_PRICE = "Spot", "Regular", "Delete", -1


def _most(value: Any, pool: Pool) -> str | None:
    """Left out, it is none: the autoscaler says how many."""
    return None if (value or 0) <= pool.max else f"is {value}, above the fleet file's {pool.max}"


def _type(value: Any, pool: Pool) -> str | None:
    return None if value == pool.instance_type else f"is {value}, and the fleet file's {pool.instance_type}"


def _priority(value: Any, pool: Pool) -> str | None:
    wanted = SPOT if pool.spot else REGULAR
    return None if (value or REGULAR) == wanted else f"is {value or REGULAR}, and the fleet file's {wanted}"


def _eviction(value: Any, pool: Pool) -> str | None:
    """What is only stopped is paid for, counts in the quota, and looks like a machine that may come back."""
    return None if not pool.spot or value == DELETE else f"is {json.dumps(value)}"


def _price(value: Any, pool: Pool) -> str | None:
    cap = pool.max_price_per_hour
    if cap is None or not pool.spot:
        return None
    if value is None or float(value) == ANY_PRICE:
        return f"is open, above the fleet file's {cap}"
    return f"is {value}, above the fleet file's {cap}" if float(value) > cap else None


# Path → what is wrong with a value there, for a pool of the fleet file; and what would be right.
OF_SCALE_SETS: dict[str, tuple[Judge, str]] = {
    "sku.capacity": (_most, "Raise the pool's max in the fleet file, or lower this"),
    "sku.name": (_type, "Quotas and prices are judged by the fleet file's: take that"),
    "upgradePolicy.mode": (only(["Manual"]), "Set it to Manual: a roll replaces machines, one at a time"),
    "upgradePolicy.automaticOSUpgradePolicy.enableAutomaticOSUpgrade": (only([False, None]), UNTOLD),
    "automaticRepairsPolicy.enabled": (only([False, None]), ALONE),
    "virtualMachineProfile.osProfile.linuxConfiguration.patchSettings.patchMode": (
        only([None, "ImageDefault"]),
        f"{UNTOLD}: Azure restarts machines that it patches",
    ),
    # Azure's own default is to buy more and to end what is too many.
    "overprovision": (only([False]), "Set it to false: no more machines than are asked for"),
    "virtualMachineProfile.priority": (_priority, "Take the pool's spot from the fleet file"),
    "virtualMachineProfile.evictionPolicy": (_eviction, f"Set it to {DELETE}"),
    "virtualMachineProfile.storageProfile.imageReference.publisher": (
        only([None, ""]),
        "Start from an image of the fleet's own: nobody baked the market's",
    ),
    "virtualMachineProfile.billingProfile.maxPrice": (_price, "Take the pool's max_price_per_hour"),
}
RIVAL = "azure-native:monitor:AutoscaleSetting"


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    """Whatever it is about: one brain scales."""
    for item in of_types(found, [RIVAL]):
        yield finding(item, "targetResourceUri", "Azure's own autoscaler would size a scale set", ALONE)
