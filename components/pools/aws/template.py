"""What a pool's machines are launched with, as plain data."""

from typing import Any

from components.tags import KUBERNETES
from fleet.image_names import RESOLVE, of_pool
from fleet.model import Fleet

from ..hardware import ROOT_GIB
from ..spec import PoolSpec


def plain(fleet: Fleet, spec: PoolSpec, tags: dict[str, str]) -> dict[str, Any]:
    """Properties of a launch template that need nothing of the cloud's; `tags` are the machines' own."""
    pool = fleet.pools[spec.name]
    found: dict[str, Any] = {
        # Looked up at each launch: a promoted image comes with the next machine.
        "image_id": RESOLVE + of_pool(fleet, spec.name),
        "instance_type": spec.hardware.shape,
        # One hop: pods, which are a second one away, do not reach the machine's credentials.
        "metadata_options": {"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
        # With the account's own key for disks: Auto Scaling's role may not use the region's.
        "block_device_mappings": [
            {
                "device_name": "/dev/sda1",
                "ebs": {
                    "encrypted": "true",
                    "volume_size": ROOT_GIB[spec.kind],
                    "volume_type": "gp3",
                    "delete_on_termination": "true",
                },
            }
        ],
        "tag_specifications": [
            {"resource_type": "instance", "tags": {**tags, KUBERNETES: spec.kubernetes}},
            {"resource_type": "volume", "tags": tags},
        ],
    }
    if pool.spot:
        found["instance_market_options"] = {"market_type": "spot", "spot_options": spot(pool.max_price_per_hour)}
    return found


def spot(most: float | None) -> dict[str, str]:
    """Without a price of its own a spot machine costs at most what one on demand does."""
    price = {"max_price": f"{most:.10g}"} if most else {}
    return {"spot_instance_type": "one-time", "instance_interruption_behavior": "terminate", **price}


def interfaces(spec: PoolSpec, group_id: Any) -> list[dict[str, Any]]:
    """One, or with EFA one a network card, of which the first alone has an address: 32 a machine would empty subnets.

    Device index 1 beyond the first card: EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with
    multiple network cards".
    """
    cards = spec.hardware.efa
    given = {"security_groups": [group_id], "delete_on_termination": "true"}
    first = {"device_index": 0, **given, **({"network_card_index": 0, "interface_type": "efa"} if cards else {})}
    return [
        first,
        *(
            {"device_index": 1, "network_card_index": card, "interface_type": "efa-only", **given}
            for card in range(1, cards)
        ),
    ]
