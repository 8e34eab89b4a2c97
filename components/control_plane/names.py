"""What clouds call a cluster's machines of one, and where these write, known before any of it exists."""

from components.storage.places import AUDIT, BACKUPS
from components.tags import Owner

from .machines import ClusterSpec, Machine

# Azure's bound for virtual machines that run Linux.
MOST = 64
# Role → where its machines lay something down in the fleet bucket: etcd its snapshots, API servers their audit log.
WRITES = {"etcd": BACKUPS, "api": AUDIT}


def machine_name(owner: Owner, spec: ClusterSpec, machine: str) -> str:
    """The virtual machine's on Azure. `owner` is of the cluster's stack."""
    return owner.name(machine.removeprefix(f"{spec.name}-"), MOST)


def writes(spec: ClusterSpec, machine: Machine) -> str:
    """The one folder of the fleet bucket that it may lay something down in."""
    return f"{WRITES[machine.role]}/{spec.name}"
