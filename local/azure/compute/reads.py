"""What Microsoft.Compute answers of no resource of its own: sizes, usages, views, interfaces of scale sets."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .. import regions
from ..errors import ArmError, not_found
from ..kinds import World
from ..requests import Read, Request
from ..store import Resource
from . import limits, power, scaling, sizes

_SUBSCRIPTION = r"/subscriptions/(?P<subscription>[^/]+)"
_COMPUTE = rf"{_SUBSCRIPTION}/providers/microsoft\.compute"
# Scale sets' interfaces are of both namespaces' API: Compute made them, and azure-mgmt-network asks for them.
_SET = r"(?P<set>/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.compute/virtualmachinescalesets/[^/]+)"
_INSTANCE = rf"(?P<instance>{_SET}/virtualmachines/[^/]+)"
_MACHINE = r"(?P<instance>/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.compute/virtualmachines/[^/]+)"


def _location(found: re.Match[str]) -> str:
    return limits.known_location(found["location"])


def _usages(world: World, _: Request, found: re.Match[str]) -> Any:
    return {"value": limits.usages(world, _location(found), found["subscription"])}


def _skus(_: World, request: Request, __: re.Match[str]) -> Any:
    """With $filter "location eq 'NAME'", as `az vm list-skus -l` asks; of all locations without."""
    match = re.fullmatch(r"location eq '([^']+)'", request.query.get("$filter", ""))
    if request.query.get("$filter") and not match:
        raise ArmError(400, "InvalidParameter", f"The filter {request.query['$filter']!r} is not valid.")
    places = [match[1].lower()] if match else sorted(regions.NAMES)
    return {
        "value": [sizes.sku(size, place) for place in places if place in regions.NAMES for size in sizes.offered(place)]
    }


def _sizes(_: World, __: Request, found: re.Match[str]) -> Any:
    _location(found)
    return {
        "value": [
            {
                "name": size.name,
                "numberOfCores": size.cpus,
                "memoryInMB": size.memory_gib * 1024,
                "maxDataDiskCount": size.disks,
                "osDiskSizeInMB": 1_047_552,
                "resourceDiskSizeInMB": 0,
            }
            for size in sizes.SIZES.values()
        ]
    }


def _set_view(world: World, _: Request, found: re.Match[str]) -> Any:
    scale_set = world.store.get(found["set"])
    counted = Counter(power.statuses(one)[0]["code"] for one in scaling.instances(world, scale_set))
    state = str(scale_set.properties["provisioningState"])
    level = "Error" if state == "Failed" else "Info"
    return {
        "virtualMachine": {"statusesSummary": [{"code": code, "count": count} for code, count in counted.items()]},
        "statuses": [power.status(f"ProvisioningState/{state.lower()}", f"Provisioning {state.lower()}", level)],
    }


def _view(world: World, _: Request, found: re.Match[str]) -> Any:
    return power.view(world, world.store.get(found["instance"]))


def _interfaces(world: World, _: Request, found: re.Match[str]) -> Any:
    if "instance" in found.groupdict():
        listed: list[Resource] = [world.store.get(found["instance"])]
    else:
        listed = scaling.instances(world, world.store.get(found["set"]))
    return {"value": [nic for one in listed for nic in one.state["interfaces"]]}


def _interface(world: World, request: Request, found: re.Match[str]) -> Any:
    for nic in world.store.get(found["instance"]).state["interfaces"]:
        if nic["name"].lower() == found["nic"]:
            return nic
    raise not_found(request.path)


READS: Mapping[str, Read] = {
    rf"{_COMPUTE}/locations/(?P<location>[^/]+)/usages": _usages,
    rf"{_COMPUTE}/locations/(?P<location>[^/]+)/vmsizes": _sizes,
    rf"{_COMPUTE}/skus": _skus,
    rf"{_SET}/instanceview": _set_view,
    rf"{_INSTANCE}/instanceview": _view,
    rf"{_MACHINE}/instanceview": _view,
    rf"{_SET}/networkinterfaces": _interfaces,
    rf"{_INSTANCE}/networkinterfaces": _interfaces,
    rf"{_INSTANCE}/networkinterfaces/(?P<nic>[^/]+)": _interface,
}
