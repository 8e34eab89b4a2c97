"""What moto lacks or gets wrong where Landbridge depends on it, one topic a file, each fit to go upstream."""

from . import (
    addresses,
    autoscaling,
    calls,
    efs,
    flow_logs,
    interfaces,
    lifecycle,
    lifecycle_calls,
    limits,
    outages,
    private_zones,
    reservations,
    routes,
    sizes,
    vpn,
)

# In this order: a later one sees a call before an earlier one does. Quotas and sizes are looked at first of all, and
# `calls` answers for what fails in any other.
EXTENSIONS = (
    autoscaling,
    lifecycle,
    lifecycle_calls,
    efs,
    flow_logs,
    interfaces,
    addresses,
    reservations,
    routes,
    private_zones,
    vpn,
    limits,
    sizes,
    outages,
    calls,
)


def install() -> None:
    """Puts every extension into moto; call once, before the first request."""
    for extension in EXTENSIONS:
        extension.install()
