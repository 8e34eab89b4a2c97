"""How much there is: quotas of the subscription, which are refused at once, and hardware, which operations fail for.

PUT /landbridge-api/quotas {"southcentralus": {"standardNDSH100v5Family": 96, "lowPriorityCores": 0}}: what is not named
has DEFAULT_CORES. PUT /landbridge-api/capacity [{"location": "southcentralus", "zone": "1", "size":
"Standard_ND96isr_H100_v5", "priority": "Spot", "most": 4, "code": "ZonalAllocationFailed", "leaves_failed": true}]: no
more than `most` machines of that kind have hardware at a time; what is left out fits all. `leaves_failed`: instances
that get none stay in their scale set as failed ones; otherwise they do not come to be.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import ids, regions
from ..errors import ArmError, bad_request, conflict
from ..kinds import World
from ..store import Resource
from . import sizes

MACHINE = "Microsoft.Compute/virtualMachines"
SET = "Microsoft.Compute/virtualMachineScaleSets"
INSTANCE = f"{SET}/virtualMachines"
DEFAULT_CORES, DEFAULT_COUNT = 10_000, 25_000
# Name of a usage → as people read it, and as refusals say it (Azure docs, "Check vCPU quotas").
TOTAL, SPOT = "cores", "lowPriorityCores"
COUNTED = {
    MACHINE: ("virtualMachines", "Virtual Machines"),
    SET: ("virtualMachineScaleSets", "Virtual Machine Scale Sets"),
}
# Those of Microsoft.Network: network_limits.py.
NETWORK = ("VirtualNetworks", "IPv4StandardSkuPublicIpAddresses")
FIELDS = {"location", "zone", "size", "priority", "most", "code", "message", "leaves_failed"}
_quotas: dict[str, dict[str, int]] = {}
_capacity: list[dict[str, Any]] = []


class Hardware(NamedTuple):
    """What a machine takes. `zone` is empty for a machine in none."""

    location: str
    zone: str
    size: str
    spot: bool


def put_quotas(quotas: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Replaces all. Raises ValueError."""
    for location, limits in quotas.items():
        if location not in regions.NAMES:
            raise ValueError(f"Azure has no location {location}")
        known = {TOTAL, SPOT, *NETWORK, *sizes.FAMILIES, *(name for name, _ in COUNTED.values())}
        if strange := sorted(limits.keys() - known):
            raise ValueError(f"there is no quota {', '.join(strange)}")
    _quotas.clear()
    _quotas.update(quotas)
    return _quotas


def put_capacity(capacity: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replaces all. Raises ValueError."""
    for one in capacity:
        if strange := sorted(one.keys() - FIELDS):
            raise ValueError(f"a capacity has no {', '.join(strange)}")
        if "most" not in one:
            raise ValueError("a capacity needs most")
    _capacity[:] = capacity
    return _capacity


def machines(world: World) -> Iterator[Resource]:
    """Every machine, in a scale set or alone."""
    yield from world.store.all(MACHINE)
    yield from world.store.all(INSTANCE)


def hardware(machine: Resource) -> Hardware:
    zones = machine.body.get("zones") or [""]
    size = (machine.properties.get("hardwareProfile") or {}).get("vmSize") or machine.body["sku"]["name"]
    return Hardware(machine.location, zones[0], size, machine.state.get("priority") == "Spot")


def holds(machine: Resource) -> bool:
    """Whether it has hardware. One whose power is off keeps it; one that is deallocated, or never came up, has none."""
    return machine.state.get("power") not in ("deallocated", "none")


def used(world: World, location: str, subscription: str) -> Counter[str]:
    """Usages by name. Cores of deallocated machines count, too (Azure docs, "Check vCPU quotas")."""
    counted: Counter[str] = Counter()
    for machine in machines(world):
        if machine.location != location or not ids.same(machine.id.subscription, subscription):
            continue
        size = sizes.find(hardware(machine).size)
        if size is None or machine.state.get("power") == "none":
            continue
        counted.update({SPOT: size.cpus} if hardware(machine).spot else {TOTAL: size.cpus, size.family: size.cpus})
    for type_, (name, _) in COUNTED.items():
        counted[name] = sum(
            one.location == location for one in world.store.all(type_, f"/subscriptions/{subscription}")
        )
    return counted


def quota(location: str, name: str, by_itself: int | None = None) -> int:
    """What was granted; else what Azure gives `by_itself`, of Compute one of two numbers."""
    counts = name in {counted for counted, _ in COUNTED.values()}
    default = by_itself if by_itself is not None else DEFAULT_COUNT if counts else DEFAULT_CORES
    return _quotas.get(location, {}).get(name, default)


def known_location(location: str) -> str:
    """Raises ArmError for one that Azure does not have."""
    if location not in regions.NAMES:
        message = f"The provided location '{location}' is not available for resource type 'locations'."
        raise ArmError(404, "NoRegisteredProviderFound", message)
    return location


def require_quota(world: World, location: str, subscription: str, size: sizes.Size, more: int, *, spot: bool) -> None:
    """Refuses `more` machines of a size beyond the quota. Raises ArmError."""
    if more <= 0:
        return
    now = used(world, location, subscription)
    for name in (SPOT,) if spot else (TOTAL, size.family):
        most, cores = quota(location, name), more * size.cpus
        if now[name] + cores > most:
            title = {TOTAL: "Total Regional Cores", SPOT: "LowPriorityCores"}.get(name, f"{name} Cores")
            message = (
                f"Operation could not be completed as it results in exceeding approved {title} quota. "
                f"Additional details - Deployment Model: Resource Manager, Location: {location}, "
                f"Current Limit: {most}, Current Usage: {now[name]}, Additional Required: {cores}, "
                f"(Minimum) New Limit Required: {now[name] + cores}."
            )
            raise conflict("OperationNotAllowed", message)


def usages(world: World, location: str, subscription: str) -> list[dict[str, Any]]:
    """The answer of …/locations/L/usages."""
    now = used(world, location, subscription)
    names = {TOTAL: "Total Regional vCPUs", SPOT: "Total Regional Low-priority vCPUs"}
    names |= dict(COUNTED.values()) | {family: _readable(family) for family in sizes.FAMILIES}
    return [
        {
            "unit": "Count",
            "currentValue": now[name],
            "limit": quota(location, name),
            "name": {"value": name, "localizedValue": readable},
        }
        for name, readable in names.items()
    ]


def _readable(family: str) -> str:
    return re.sub(r"(?i)^standard ?(.*?) ?family$", r"Standard \1 Family vCPUs", family)


class Room:
    """What hardware is left, for one operation that asks for some of it."""

    def __init__(self, world: World) -> None:
        self.held = Counter(hardware(one) for one in machines(world) if holds(one))

    def take(self, wanted: Hardware) -> dict[str, Any] | None:
        """None if there was some; else the limit that was reached."""
        for limit in _capacity:
            if _fits(limit, wanted) and sum(n for one, n in self.held.items() if _fits(limit, one)) >= limit["most"]:
                return limit
        self.held[wanted] += 1
        return None

    def give(self, freed: Hardware) -> None:
        self.held[freed] -= 1


def _fits(limit: dict[str, Any], one: Hardware) -> bool:
    values = {
        "location": one.location,
        "zone": one.zone,
        "size": one.size,
        "priority": "Spot" if one.spot else "Regular",
    }
    return all(ids.same(str(limit[field]), value) for field, value in values.items() if field in limit)


def failure(limit: dict[str, Any], size: str, location: str) -> ArmError:
    """As an operation ends that got no hardware."""
    code = limit.get("code") or ("ZonalAllocationFailed" if limit.get("zone") else "AllocationFailed")
    return conflict(
        code, limit.get("message") or MESSAGES.get(code, MESSAGES["AllocationFailed"]).format(size, location)
    )


MESSAGES = {
    "AllocationFailed": (
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. Read more "
        "about improving likelihood of allocation success at http://aka.ms/allocation-guidance."
    ),
    "ZonalAllocationFailed": (
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about "
        "improving likelihood of allocation success at http://aka.ms/allocation-guidance."
    ),
    "OverconstrainedAllocationRequest": (
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too "
        "restrictive. Please remove some constraints and try again. Constraints applied are: - VM Size: {0}"
    ),
    "SkuNotAvailable": (
        "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {0}' is currently "
        "not available in location '{1}'. Please try another size or deploy to a different location or different "
        "zone. See https://aka.ms/azureskunotavailable for details."
    ),
}


def require_size(name: str, location: str) -> sizes.Size:
    """Raises ArmError for a size that the location does not offer."""
    found = sizes.find(name)
    if found is None:
        message = f"The value {name} provided for the VM size is not valid in {location}: the local Azure lacks it."
        raise bad_request("InvalidParameter", message)
    return found
