"""What BGP would have told everybody by now, at the ends of tunnels that are up. Pure.

AWS tells at a tunnel what the table of its connection has. Azure tells its networks and all that it hears elsewhere
("VPN Gateway FAQ": it "acts as a transit"). A site tells its block, to Azure with the numbers of AWS's hubs in the
path, so that no hub of AWS believes it from there; from Azure it takes what the gateway has of its own, and no more.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import hub_routers as hubs
from .ends import Heard, Path, Side, Site, Tunnel


class Talk(NamedTuple):
    """Who is there: hubs, gateways and sites by their routers, and networks' prefixes."""

    hubs: Mapping[str, Mapping[str, Any]]
    gateways: Mapping[str, Mapping[str, Any]]
    sites: Mapping[str, Site]
    cidrs: Mapping[str, list[str]]


def converged(world: Mapping[str, Any], sites: Iterable[Site], tunnels: list[Tunnel]) -> Heard:
    cidrs = {one["id"]: one["cidrs"] for one in [*world["networks"], *world["vnets"]]}
    talk = Talk(
        {one["id"]: one for one in world["hubs"]},
        {one["id"]: one for one in world["gateways"]},
        {one.router: one for one in sites},
        cidrs,
    )
    heard: Heard = {}
    # A path has nobody twice, so that nothing is heard later than after so many rounds.
    for _ in range(len(talk.hubs) + len(talk.gateways) + len(talk.sites) + 1):
        before, heard = heard, {}
        for tunnel in tunnels:
            for speaker, listener in ((tunnel.here, tunnel.there), (tunnel.there, tunnel.here)):
                announced = _tells(talk, speaker, listener, tunnels, before)
                heard[tunnel.name, listener.router] = _believes(talk, listener, speaker, announced)
        if heard == before:
            break
    return heard


def _tells(talk: Talk, speaker: Side, listener: Side, tunnels: list[Tunnel], heard: Heard) -> dict[str, Path]:
    if site := talk.sites.get(speaker.router):
        numbers = [hub["asn"] for hub in talk.hubs.values()] if listener.router in talk.gateways else []
        return {site.block: (site.router, *numbers)}
    if gateway := talk.gateways.get(speaker.router):
        own: dict[str, Path] = {cidr: () for name in gateway["networks"] for cidr in talk.cidrs.get(name, ())}
        learned = {cidr: entry.path for cidr, entry in hubs.known(gateway, tunnels, heard).items()}
        return {cidr: (gateway["asn"], *path) for cidr, path in {**learned, **own}.items()}
    hub = talk.hubs[speaker.router]
    table = next((one["table"] for one in hub["attachments"] if one["to"] == speaker.connection), None)
    if table is None:
        return {}
    found = hubs.contents(hub, hub["tables"][table], talk.cidrs, tunnels, heard)
    return {cidr: (hub["asn"], *entry.path) for cidr, entry in found.items()}


def _believes(talk: Talk, listener: Side, speaker: Side, announced: Mapping[str, Path]) -> dict[str, Path]:
    if listener.router in talk.sites:
        of_azure = speaker.router in talk.gateways
        return {cidr: path for cidr, path in announced.items() if not of_azure or len(path) == 1}
    number = (talk.hubs.get(listener.router) or talk.gateways[listener.router])["asn"]
    return {cidr: path for cidr, path in announced.items() if number is None or number not in path}
