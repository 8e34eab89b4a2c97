"""What a pool's scale sets are on Azure, as plain data."""

from collections.abc import Sequence
from typing import Any

from components.boot.azure.profile import DIAGNOSTICS, TRUSTED, os_disk, os_profile
from fleet.model import Fleet

from ..hardware import ROOT_GIB
from ..names import Group
from ..spec import PoolSpec

REGULAR, SPOT = "Regular", "Spot"
# What an evicted machine leaves: nothing. What is only stopped is paid for, and counts in the quota.
EVICTION = "Delete"
# Up to what one on demand costs.
OPEN_PRICE = -1


def scale_set(spec: PoolSpec, group: Group) -> dict[str, Any]:
    """Properties of one that need nothing of the cloud's; its size is that of its birth, and the autoscaler's then."""
    return {
        "location": spec.place,
        "zones": list(group.zones),
        "sku": {"name": spec.hardware.shape, "tier": "Standard", "capacity": group.least},
        # Machines that are all alike, ended by their numbers: docs/decisions/0033-scale-sets.md.
        "orchestration_mode": "Uniform",
        "overprovision": False,
        # The fabric ends where the placement group does.
        "single_placement_group": spec.hardware.rdma,
        "platform_fault_domain_count": 1,
        "upgrade_policy": {"mode": "Manual"},
        # For whoever makes one smaller by hand: the autoscaler says which machines go.
        "scale_in_policy": {"rules": ["NewestVM"]},
    }


def profile(fleet: Fleet, spec: PoolSpec, group: Group, image: str, script: Any, admin_key: Any) -> dict[str, Any]:
    """A machine's, but for its network. `image` is the image's id; `script` and `admin_key` as for `os_profile`."""
    pool = fleet.pools[spec.name]
    found: dict[str, Any] = {
        "priority": SPOT if pool.spot else REGULAR,
        "os_profile": {
            # Each machine's name, and its node's, is this and six signs.
            "computer_name_prefix": f"{group.name}-",
            **os_profile(script, admin_key),
        },
        "storage_profile": {
            # The version that the pool's channel names: docs/decisions/0038-a-gallery-of-the-fleet.md.
            "image_reference": {"id": image},
            "os_disk": os_disk(ROOT_GIB[spec.kind]),
        },
        "diagnostics_profile": DIAGNOSTICS,
    }
    if not spec.hardware.gpus:
        found["security_profile"] = TRUSTED
    if pool.spot:
        found["eviction_policy"] = EVICTION
        found["billing_profile"] = {"max_price": pool.max_price_per_hour or OPEN_PRICE}
    return found


def interfaces(subnets: Sequence[Any], firewall_id: Any, own_id: Any | None = None) -> dict[str, Any]:
    """One card with one address, in the zone's subnet; a set of several zones stands in the subnet of its first.

    `own_id` is the group that stands for the pool's own machines in rules.
    """
    address: dict[str, Any] = {"name": "main", "primary": True, "subnet": {"id": subnets[0]}}
    if own_id is not None:
        address["application_security_groups"] = [{"id": own_id}]
    interface = {
        "name": "main",
        "primary": True,
        "enable_accelerated_networking": True,
        # What pods send goes out by their node's address.
        "enable_ip_forwarding": False,
        "network_security_group": {"id": firewall_id},
        "ip_configurations": [address],
    }
    return {"network_interface_configurations": [interface]}
