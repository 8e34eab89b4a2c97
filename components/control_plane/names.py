"""What clouds call a cluster's machines of one, known before any of it exists."""

from components.tags import Owner

from .machines import ClusterSpec

# Azure's bound for virtual machines that run Linux.
MOST = 64


def machine_name(owner: Owner, spec: ClusterSpec, machine: str) -> str:
    """The virtual machine's on Azure. `owner` is of the cluster's stack."""
    return owner.name(machine.removeprefix(f"{spec.name}-"), MOST)
