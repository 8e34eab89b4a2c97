"""A site's router: it stands for the site's gateways. Pure.

It takes a region's routes by the tunnels that are up, and lets what they tell of reach its own block, and back.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from .ends import Heard, Site, Tunnel
from .routers import CLOUD_INTERFACE, METADATA, PLATFORM, Route, Router, filtering

MACHINE = "m"


def router(site: Site, tunnels: Iterable[Tunnel], heard: Heard) -> Router:
    by_prefix: Mapping[str, list[str]] = defaultdict(list)
    for tunnel in tunnels:
        for cidr in heard.get((tunnel.name, site.router), {}):
            by_prefix[cidr].append(tunnel.interface)
    routes = {Route(cidr, tuple(sorted(interfaces))) for cidr, interfaces in by_prefix.items() if cidr != site.block}
    routes |= {
        Route(f"{METADATA}/32", (CLOUD_INTERFACE,)),
        Route(f"{PLATFORM}/32", (CLOUD_INTERFACE,)),
        Route(site.block),
    }
    lines = [
        f'iifname "{MACHINE}*" oifname "{MACHINE}*" accept',
        f'iifname "{MACHINE}*" ip daddr {{ {METADATA}, {PLATFORM} }} accept',
        f'iifname "{CLOUD_INTERFACE}" ip saddr {{ {METADATA}, {PLATFORM} }} accept',
    ]
    for cidr, interfaces in sorted(by_prefix.items()):
        named = ", ".join(f'"{one}"' for one in sorted(interfaces))
        lines.append(f"iifname {{ {named} }} ip saddr {cidr} ip daddr {site.block} accept")
        lines.append(f"oifname {{ {named} }} ip saddr {site.block} ip daddr {cidr} accept")
    return Router(frozenset(routes), ruleset=filtering(*lines))
