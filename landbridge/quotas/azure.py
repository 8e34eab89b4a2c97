"""Quotas of a subscription in a region of Azure, what is used of them, and what the fleet's resource group uses.

vCPUs by the same code as a cluster's metrics (fleet.azure.quota_usage).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from fleet import quotas, shapes
from fleet.azure import ids, quota_usage
from fleet.buckets import resource_group
from fleet.model import Fleet
from fleet.quota_share import Share
from fleet.quotas import Place
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.azure.refusals import call_azure
from landbridge.clouds.cloud import CloudError
from landbridge.shapes.offer import AwayError

from .needs import ADDRESSES, NETWORKS
from .used import Used

# Names of Network's quotas. That of standard addresses has changed; the first that the region has counts.
NETWORK_NAMES: Mapping[Place, tuple[str, ...]] = {
    ADDRESSES: ("IPv4StandardSkuPublicIpAddresses", "StandardSkuPublicIpAddresses", "PublicIPAddresses"),
    NETWORKS: ("VirtualNetworks",),
}
NEEDS = (
    "You need the role Reader on the subscription: Microsoft.Compute/locations/usages/read and the same of "
    "Microsoft.Network"
)
SPOT = "Spot"
PORTAL = "https://portal.azure.com/#view/Microsoft_Azure_Capacity/QuotaMenuBlade/~/myQuotas"


def read(fleet: Fleet, region: str, wanted: Collection[Place], clients: Clients, now: float) -> Mapping[Place, Used]:  # noqa: ARG001
    """A quota that Azure does not tell is not in it. Raises AwayError."""
    try:
        what = f"Quotas in {region} can't be read"
        compute = call_azure(what, NEEDS, lambda: quota_usage.told(_rows(clients.compute.usage.list(region))))
        network = call_azure(what, NEEDS, lambda: quota_usage.told(_rows(clients.network.usages.list(region))))
        ours = call_azure(what, NEEDS, lambda: _ours(fleet, region, clients))
    except CloudError as error:
        raise AwayError(str(error).rstrip(".")) from None
    found = ((place, _named(place, compute, network)) for place in wanted)
    return {place: Used(one[0], *one[1], ours[place]) for place, one in found if one}


def _rows(usages: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Usages of azure-mgmt-compute and azure-mgmt-network as their answers have them."""
    for one in usages:
        yield {"name": {"value": one.name.value}, "limit": one.limit, "currentValue": one.current_value}


def _named(place: Place, compute: Mapping[str, Share], network: Mapping[str, Share]) -> tuple[str, Share] | None:
    told, names = (network, NETWORK_NAMES[place]) if place in NETWORK_NAMES else (compute, (_compute_name(place),))
    return next(((name, told[name.lower()]) for name in names if name.lower() in told), None)


def _compute_name(place: Place) -> str:
    return quotas.cloud_name("azure", place)


def _ours(fleet: Fleet, region: str, clients: Clients) -> Counter[Place]:
    """vCPUs by quotas, and addresses and networks. A set counts as large as it is to be."""
    group, compute, network = resource_group(fleet, region), clients.compute, clients.network
    machines = [(one.hardware_profile.vm_size, one.priority, 1) for one in _listed(group, compute.virtual_machines)]
    for one in _listed(group, compute.virtual_machine_scale_sets):
        profile = one.virtual_machine_profile
        machines.append((one.sku.name, profile.priority if profile else None, int(one.sku.capacity or 0)))
    counted = Counter[Place]()
    for size, priority, number in machines:
        if known := shapes.listed(fleet, region, size):
            for place in quotas.of_type(known.shape.family, "azure", spot=priority == SPOT):
                counted[place] += number * known.shape.cpus
    counted[ADDRESSES] = len(_listed(group, network.public_ip_addresses))
    counted[NETWORKS] = len(_listed(group, network.virtual_networks))
    return counted


def _listed(group: str, of: Any) -> list[Any]:
    """Nothing where the group is not there yet."""
    from azure.core.exceptions import ResourceNotFoundError

    listed: Callable[[str], Iterable[Any]] = of.list
    try:
        return list(listed(group))
    except ResourceNotFoundError:
        return []


def ask(fleet: Fleet, region: str, place: Place, value: int) -> tuple[str, str]:
    """How to ask for more: a command (of az's extension quota), and a page of the portal."""
    provider = "Network" if place in NETWORK_NAMES else "Compute"
    name = NETWORK_NAMES[place][0] if place in NETWORK_NAMES else _compute_name(place)
    kinds: dict[Place, str] = {ADDRESSES: "PublicIpAddresses", NETWORKS: "VirtualNetworks", ("spot",): "lowPriority"}
    scope = f"{ids.subscription(fleet)}/providers/Microsoft.{provider}/locations/{region}"
    command = (
        f"az quota update --scope {scope} --resource-name '{name}' --limit-object value={value} "
        f"--resource-type {kinds.get(place, 'dedicated')}"
    )
    return command, PORTAL
