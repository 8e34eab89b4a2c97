"""Hosts of sites: enrolled, at work, and with the bundle that they are to have."""

from collections.abc import Iterator

from landbridge.cluster.info import published
from landbridge.site.hosts import of_site
from landbridge.site.status import Hosts, State

from .finding import Finding
from .subject import Patient


def look(patient: Patient, site: str) -> Iterator[Finding]:
    world, place = patient.known
    every = of_site(world, site)
    for cluster, session in patient.standing.items():
        mine = {name: host for name, host in every.items() if host.cluster == cluster}
        # What their pool has not published yet is its stack's to say.
        if mine and all(published(place, host.pool) for host in mine.values()):
            for state in Hosts(session, mine).look().values():
                yield from of_host(patient, site, state)


def of_host(patient: Patient, site: str, state: State) -> Iterator[Finding]:
    area, host = f"site {site}", state.host
    if state.unknown:
        yield Finding(area, "broken", f"host {host}: {state.unknown}", patient.command(f"site status {site} {host}"))
        return
    if not state.enrolled:
        yield Finding(area, "broken", f"host {host} is not enrolled", patient.command(f"site enrol {site} {host}"))
        return
    if state.failed:
        text = f"host {host}: {', '.join(state.failed)} {'is' if len(state.failed) == 1 else 'are'} not up"
        yield Finding(area, "broken", text, patient.command(f"site status {site} {host}"))
    elif not state.ready:
        text = f"host {host} is not Ready"
        yield Finding(area, "broken", text, patient.command(f"kubectl describe node {state.node}"))
    if not state.current:
        files = f": {', '.join(state.differs[:3])}" if state.differs else ""
        text = f"host {host} has not the bundle that it is to have{files}"
        yield Finding(area, "ailing", text, patient.command(f"site apply {site} {host}"))
