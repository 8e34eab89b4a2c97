"""What moto lacks or gets wrong where Landbridge depends on it, one topic a file, each fit to go upstream."""

from . import (
    access,
    addresses,
    attachments,
    autoscaling,
    balancers,
    calls,
    descriptions,
    efs,
    flow_logs,
    images,
    interfaces,
    launches,
    lifecycle,
    lifecycle_calls,
    limits,
    listeners,
    machines,
    outages,
    placement_groups,
    private_zones,
    records,
    replicas,
    reservations,
    routes,
    run_command,
    scaling_groups,
    sizes,
    snapshots,
    targets,
    unsigned,
    versions,
    vpn,
)

# In this order: a later one sees a call before an earlier one does. Quotas and sizes are looked at first of all, after
# `launches` has put a template's data into the call, and `calls` answers for what fails in any other.
EXTENSIONS = (
    autoscaling,
    lifecycle,
    lifecycle_calls,
    scaling_groups,
    efs,
    flow_logs,
    interfaces,
    addresses,
    attachments,
    snapshots,
    balancers,
    listeners,
    targets,
    placement_groups,
    reservations,
    routes,
    private_zones,
    records,
    vpn,
    run_command,
    replicas,
    descriptions,
    limits,
    sizes,
    images,
    launches,
    machines,
    access,
    outages,
    unsigned,
    versions,
    calls,
)


def install() -> None:
    """Puts every extension into moto; call once, before the first request."""
    for extension in EXTENSIONS:
        extension.install()
