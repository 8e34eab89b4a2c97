"""As whom API machines look at machines in a cloud that they are not at home in: roles and policies go by it."""

from . import laptops
from .model import Cloud, Fleet

SPACE, ACCOUNT = "kube-system", "landbridge-joining"
# Whom a token of its service account is about; nothing runs as it.
SUBJECT = f"system:serviceaccount:{SPACE}:{ACCOUNT}"


def regions(fleet: Fleet, cluster: str, cloud: Cloud) -> list[str]:
    """Those of a cloud with machines that join the cluster: of pools, and servers for laptops."""
    own = {pool.region for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"}
    wanted = {*own, *laptops.regions(fleet, cluster)}
    return sorted(region for region in wanted if region and fleet.regions[region].cloud == cloud)
