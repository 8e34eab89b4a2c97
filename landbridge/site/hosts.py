"""The hosts of a site that belong to a cluster, out of the fleet file alone."""

from collections.abc import Collection
from typing import NamedTuple

from components.pools.site.enrolment import node_name
from fleet.model import Host, PoolKind
from fleet.world import World
from landbridge.errors import UsageError


class SiteHost(NamedTuple):
    """`address` is the fleet file's, if it gives one; `spec` is the whole of what that says."""

    site: str
    name: str
    pool: str
    kind: PoolKind
    cluster: str
    address: str | None
    spec: Host

    @property
    def node(self) -> str:
        """Its name in the cluster, and everywhere outside of its site."""
        return node_name(self.site, self.name)

    @property
    def joins(self) -> bool:
        """Whether it is a node: machines of kind ssh are not."""
        return self.kind != "ssh"


def of_site(world: World, site: str) -> dict[str, SiteHost]:
    """Those that a pool has, in the order of the file. Raises UsageError for a site that is not there."""
    known = world.fleet.sites
    if site not in known:
        raise UsageError(f"{world.path.name} has no site {site}. Its sites: {', '.join(known) or 'none'}.")
    pools = {host: (name, pool) for name, pool in world.fleet.pools.items() if pool.site == site for host in pool.hosts}
    return {
        name: SiteHost(site, name, pools[name][0], pools[name][1].kind, pools[name][1].cluster, spec.address, spec)
        for name, spec in known[site].hosts.items()
        if name in pools
    }


def one(world: World, site: str, name: str, cluster: str | None) -> SiteHost:
    """Raises UsageError for a host that cannot be enrolled, with the reason."""
    found = of_site(world, site)
    file = world.path.name
    if name not in world.fleet.sites[site].hosts:
        there = ", ".join(world.fleet.sites[site].hosts) or "none"
        raise UsageError(f"{file}: site {site} has no host {name}. Its hosts: {there}.")
    if name not in found:
        raise UsageError(
            f"{file}: host {name} of site {site} is in no pool, so no cluster would have it. Add it to `hosts` of one, "
            f"then `landbridge up`."
        )
    host = found[name]
    if cluster is not None and host.cluster != cluster:
        raise UsageError(f"{file}: host {name} is in pool {host.pool} of cluster {host.cluster}, not of {cluster}.")
    return host


def chosen(world: World, site: str, names: Collection[str], cluster: str | None) -> dict[str, SiteHost]:
    """Those named, else all; of one cluster. Raises UsageError."""
    for name in names:
        one(world, site, name, cluster)
    found = {name: host for name, host in of_site(world, site).items() if not names or name in names}
    found = {name: host for name, host in found.items() if cluster in (None, host.cluster)}
    clusters = sorted({host.cluster for host in found.values()})
    if not found:
        which = f" of cluster {cluster}" if cluster else ""
        raise UsageError(f"{world.path.name}: no pool{which} has a host of site {site}: there is nothing to look at.")
    if len(clusters) > 1:
        raise UsageError(
            f"{world.path.name}: hosts of site {site} are in pools of {' and '.join(clusters)}. Say which cluster is "
            "meant with --cluster."
        )
    return found
