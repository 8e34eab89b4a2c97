"""What a pool's machines have: their root disk, and what their type brings along for talk between GPUs of many.

EC2 user guide: "Maximize network bandwidth on Amazon EC2 instances with multiple network cards", "Elastic Fabric
Adapter for AI/ML and HPC workloads", "Placement strategies for your placement groups".
"""

from fleet.aws.sizes import EFA_INTERFACES as EFA_INTERFACES
from fleet.azure.sizes import infiniband as infiniband

# Images of 20 GB, and what pods write. Data have their shares, and GPU machines disks of their own beside.
ROOT_GIB: dict[str, int] = {"gpu": 500, "cpu": 200, "system": 50, "ssh": 200, "laptops": 50}


def fabric(instance_type: str) -> int:
    """Network cards with EFA, by the tables that come with Landbridge; 0 for a machine without."""
    return EFA_INTERFACES.get(instance_type, 0)
