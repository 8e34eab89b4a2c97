"""How a site finds the fleet's names: what its resolver has to forward, and to whom. Pure.

Every region knows the names of every region's zone, or asks who does, so one region that answers is enough; unbound
asks the quickest, and another one when that is silent.
"""

from typing import NamedTuple

from components.network.resolver import answers
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .names import site_zones

# "Serving Stale Data" (RFC 8767, section 5): what has run out is told only when nobody has answered for so long.
PATIENCE_MILLISECONDS = 1800
SERVE_EXPIRED_SECONDS = 86400


class Forwarding(NamedTuple):
    """Questions for names of `zones` go to the `addresses`, which are by region, and all others elsewhere.

    `hosts` are the site's own that have an address in the fleet file. Others' names its own resolver may know.
    """

    site: str
    domain: str
    zones: tuple[str, ...]
    hosts: tuple[tuple[str, str], ...]
    addresses: dict[str, tuple[str, ...]]


def forwarding(fleet: Fleet, plan: AddressPlan, site: str) -> Forwarding:
    regions = {name: answers(plan.region(name)) for name in fleet.regions}
    sites = site_zones(fleet)
    return Forwarding(
        site,
        fleet.domain,
        # Never the whole domain: a cloud knows nothing of this site's hosts that take addresses as they come.
        (*(f"{name}.{fleet.domain}" for name in regions), *(zone.name for zone in sites if zone.site != site)),
        next((zone.hosts for zone in sites if zone.site == site), ()),
        regions,
    )


def unbound(spec: Forwarding) -> str:
    """For /etc/unbound/unbound.conf.d (unbound.conf(5))."""
    upstreams = "".join(
        f"    forward-addr: {address}  # {region}\n" for region, found in spec.addresses.items() for address in found
    )
    forwarded = "".join(f'\nforward-zone:\n    name: "{zone}"\n{upstreams}' for zone in spec.zones)
    return f"""\
# Names of {spec.domain} for {spec.site}. Made by landbridge: change fleet.yaml instead.
server:
    # Private addresses are right in answers for these names, and nobody signs their zones.
    private-domain: "{spec.domain}"
    domain-insecure: "{spec.domain}"
    # While no region is in reach, names that were known go on being known; while one is, none is told that has run out.
    serve-expired: yes
    serve-expired-ttl: {SERVE_EXPIRED_SECONDS}
    serve-expired-client-timeout: {PATIENCE_MILLISECONDS}
{_own(spec)}{forwarded}"""


def _own(spec: Forwarding) -> str:
    """Without a region, too. What stands here is answered here, and all other names of the zone as they were before."""
    if not spec.hosts:
        return ""
    records = "".join(f'    local-data: "{name}. A {address}"\n' for name, address in spec.hosts)
    return f'    local-zone: "{spec.site}.{spec.domain}." transparent\n{records}'
