"""`landbridge links`: what joins regions and sites, and how it is."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from landbridge import tables
from landbridge.cluster import session as sessions
from landbridge.errors import DONE, FAILED
from landbridge.links.cross_cloud import CrossCloudStatus, cross_cloud_statuses
from landbridge.links.gateways import GatewayReport, explained, gateway_reports
from landbridge.links.info import Connections
from landbridge.links.status import peering_statuses, tunnel_statuses
from landbridge.links.tunnel_status import DOWN, NONE, UNKNOWN, UP, PeeringStatus, TunnelStatus
from landbridge.output import Output
from landbridge.site import gateway as site_gateways

from . import options
from .options import fleet_option, json_option, local_option, together

COLOURS = {UP: "green", DOWN: "red", UNKNOWN: "yellow", NONE: "yellow"}


@click.group()
def links() -> None:
    """Tunnels and peerings between regions and sites. `landbridge up links` makes them."""


@links.command()
@click.argument("site_name", metavar="[SITE]", required=False)
@click.option(
    "--gateway",
    "reports",
    metavar="FILE",
    multiple=True,
    help="What gateway_verify.py --json printed there; - for standard input. Once for each gateway.",
)
@together(local_option, fleet_option, json_option)
def check(
    site_name: str | None, reports: tuple[str, ...], *, local: bool, fleet_file: Path | None, as_json: bool
) -> int:
    """Says of each tunnel, to sites and between clouds, and of each peering whether it is up, and what is wrong.

    Asks the clouds: the regions' ends see whether a site's gateway speaks. Why it does not, the gateway knows. What
    gateway_verify.py --json prints there, given by --gateway, says that, too, and whether the gateway is as the fleet
    file has it. Exit code 1 when anything is not.
    """
    world = options.the_fleet(fleet_file)
    site = site_gateways.checked(world, site_name) if site_name else None
    found = Connections(world, sessions.the_place(world, local=local), site)
    gateways = gateway_reports(found, reports, site)
    tunnels, peers = explained(tunnel_statuses(found, site), gateways), [] if site else peering_statuses(found)
    crossings = [] if site else cross_cloud_statuses(found)
    out = options.output(as_json=as_json)
    well = (
        not any(one.trouble for one in tunnels)
        and not any(one.trouble for one in crossings)
        and all(one.up for one in peers)
    )
    well = well and not any(one.drift for one in gateways)
    if as_json:
        document = {"tunnels": [one.as_json() for one in tunnels], "peerings": [one._asdict() for one in peers]}
        document["crossings"] = [one._asdict() for one in crossings]
        out.document({**document, "gateways": [one.as_json() for one in gateways], "well": well})
    else:
        show(tunnels, crossings, peers, gateways, out)
    return DONE if well else FAILED


def show(
    tunnels: list[TunnelStatus],
    crossings: list[CrossCloudStatus],
    peers: list[PeeringStatus],
    gateways: list[GatewayReport],
    out: Output,
) -> None:
    out.console.print(_ends(("tunnel", "gateway"), [(one, (one.gateway,)) for one in tunnels]))
    if crossings:
        out.console.print(_ends(("between clouds",), [(one, ()) for one in crossings]))
    if peers:
        table = tables.plain_table("peering", "", "state")
        for peer in peers:
            state = Text(peer.state, style="green" if peer.up else "red")
            table.add_row(Text(peer.here, style="bold"), Text(peer.there, style="bold"), state)
        out.console.print(table)
    if gateways:
        table = tables.plain_table("gateway", "site", "", "LAN's next hop")
        for gateway in gateways:
            state = Text("differs", style="yellow") if gateway.drift else Text("as planned", style="green")
            table.add_row(Text(gateway.gateway, style="bold"), gateway.site, state, gateway.next_hop)
        out.console.print(table)
    troubles(tunnels, crossings, gateways, out)


def _ends(heads: tuple[str, ...], rows: Sequence[tuple[TunnelStatus | CrossCloudStatus, tuple[str, ...]]]) -> Table:
    """The regions' ends of tunnels; each row's own cells are those after the first of `heads`."""
    table = tables.plain_table(*heads, "hub", "state", "since", "prefixes", right=("since", "prefixes"))
    for one, own in rows:
        state = Text(one.state, style=COLOURS[one.state])
        columns = (one.address, state, since(one.since), str(one.prefixes) if one.state == UP else "")
        table.add_row(Text(one.tunnel, style="bold"), *own, *columns)
    return table


def troubles(
    tunnels: list[TunnelStatus], crossings: list[CrossCloudStatus], gateways: list[GatewayReport], out: Output
) -> None:
    # One cause is told once, with all that it is the cause of.
    troubled = [(one.tunnel, one.trouble) for one in tunnels if one.trouble]
    troubled += [(one.tunnel, one.trouble) for one in crossings if one.trouble]
    for why in dict.fromkeys(why for _, why in troubled):
        names = ", ".join(name for name, of in troubled if of == why)
        out.console.print(Text(f"{names}: {why}.", style="yellow"), soft_wrap=True)
    for gateway in gateways:
        for why in gateway.drift:
            out.console.print(Text(f"{gateway.gateway}: {why}.", style="yellow"), soft_wrap=True)


def since(moment: datetime | None) -> str:
    return tables.age((datetime.now(UTC) - moment).total_seconds()) if moment else ""
