"""Links: tunnels to sites and between clouds, and peerings, by what the clouds say of their ends."""

from collections import defaultdict
from collections.abc import Iterator

from landbridge.cluster.info import published
from landbridge.links.cross_cloud import cross_cloud_statuses
from landbridge.links.info import Connections
from landbridge.links.status import peering_statuses, tunnel_statuses
from landbridge.links.tunnel_status import UP, TunnelStatus
from stacks.catalogue import LINKS, links

from .finding import Finding, Severity
from .subject import Patient

AREA = "links"


def look(patient: Patient) -> Iterator[Finding]:
    world, place = patient.known
    if not links(world.fleet) or not published(place, LINKS).get("connections"):
        return  # none, or not up, which is its stack's to say
    found, check = Connections(world, place), patient.command("links check")
    yield from tunnels(tunnel_statuses(found), check)
    for one in cross_cloud_statuses(found):
        if one.trouble:
            yield Finding(AREA, "ailing", f"tunnel {one.tunnel}: {one.trouble}", check)
    for peering in peering_statuses(found):
        if not peering.up:
            text = f"peering of {peering.here} and {peering.there} is {peering.state}"
            yield Finding(AREA, "broken", text, patient.command("up links --refresh"))


def tunnels(found: list[TunnelStatus], check: str) -> Iterator[Finding]:
    """A site with one way left works; one with none does not. One cause is told once."""
    sites = defaultdict[str, list[TunnelStatus]](list)
    for one in found:
        sites[one.site].append(one)
    for site, ends in sites.items():
        severity: Severity = "ailing" if any(one.state == UP and one.prefixes for one in ends) else "broken"
        for why in dict.fromkeys(one.trouble for one in ends if one.trouble):
            names = [one.tunnel for one in ends if one.trouble == why]
            many = (
                f"tunnel {names[0]}" if len(names) == 1 else f"{len(names)} of {len(ends)} tunnels ({', '.join(names)})"
            )
            yield Finding(AREA, severity, f"site {site}: {many}: {why}", check)
