"""What a pool's machines have: their root disk, and what their type brings along for talk between GPUs of many.

EC2 user guide: "Maximize network bandwidth on Amazon EC2 instances with multiple network cards", "Elastic Fabric
Adapter for AI/ML and HPC workloads", "Placement strategies for your placement groups".
"""

from fleet.azure.sizes import infiniband as infiniband

# Images of 20 GB, and what pods write. Data have their shares, and GPU machines disks of their own beside.
ROOT_GIB: dict[str, int] = {"gpu": 500, "cpu": 200, "system": 50, "ssh": 200, "laptops": 50}
# Instance type → its network cards, each with an interface of the fabric. Those whose GPUs are sold for work on many
# machines; smaller types have one slow card, and the plain network does for them.
EFA_INTERFACES = {
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
}


def fabric(instance_type: str) -> int:
    """Network cards with EFA; 0 for a machine without."""
    return EFA_INTERFACES.get(instance_type, 0)
