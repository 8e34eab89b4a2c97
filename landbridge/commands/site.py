"""`landbridge site`: the hosts and the gateways of machine rooms."""

from pathlib import Path

import click
from rich.text import Text

from components.links.forwarding import forwarding, unbound
from landbridge import tables
from landbridge.cluster import session as sessions
from landbridge.cluster.session import Session
from landbridge.errors import DONE, FAILED
from landbridge.output import Output
from landbridge.site import enrol as enrolments
from landbridge.site import gateway as site_gateways
from landbridge.site import hosts as site_hosts
from landbridge.site.apply import Apply, ApplyError, Outcome
from landbridge.site.status import Hosts, State

from . import options
from .options import cluster_option, fleet_option, json_option, local_option, together

common = together(cluster_option, local_option, fleet_option, json_option)


@click.group()
def site() -> None:
    """A machine room: its hosts' enrolment, state and bundles, and its gateways."""


@site.command()
@click.argument("site_name", metavar="SITE")
@click.argument("host")
@common
@click.option(
    "--hours", type=float, default=1.0, show_default=True, help="How long the command is good for, 24 at most."
)
def enrol(
    site_name: str, host: str, *, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, hours: float
) -> int:
    """Prints the one command that makes HOST a node, to be run there as root.

    It holds a token that is good for this host alone, replaces earlier ones, and stands in no log: hand it over as a
    secret, or directly: `landbridge site enrol SITE HOST | ssh HOST sudo sh`. A host that stands may be enrolled again.
    """
    world = options.the_fleet(fleet_file)
    chosen, lasts = site_hosts.one(world, site_name, host, cluster), enrolments.lifetime(hours)
    session = sessions.opened(world, chosen.cluster, local=local)
    made = enrolments.enrol(session, chosen, lasts)
    if as_json:
        options.output(as_json=True).document(made.as_json())
        return DONE
    until = f"{made.until.astimezone():%Y-%m-%d %H:%M}"
    click.echo(
        f"To be run on {host} of {site_name} as root, until {until}. It holds a token: keep it to yourself.", err=True
    )
    click.echo(made.command, nl=False)
    return DONE


@site.command()
@click.argument("site_name", metavar="SITE")
@together(fleet_option, json_option)
def names(site_name: str, *, fleet_file: Path | None, as_json: bool) -> int:
    """Prints what the site's resolver needs to find the fleet's names, as a file for unbound.

    Save it as /etc/unbound/unbound.conf.d/landbridge.conf. Another resolver needs the same: questions for these
    zones, and for no others, go to these addresses, which are reached through the site's link. By the plan alone.
    """
    world = options.the_fleet(fleet_file)
    spec = forwarding(world.fleet, world.plan, site_gateways.checked(world, site_name))
    if as_json:
        options.output(as_json=True).document(spec._asdict())
    else:
        click.echo(unbound(spec), nl=False)
    return DONE


@site.command()
@click.argument("site_name", metavar="SITE")
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@common
def status(
    site_name: str, hosts: tuple[str, ...], *, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool
) -> int:
    """Shows each host: whether it is enrolled and Ready, which files of its bundle differ, and what runs there.

    Exit code 1 when a host is not enrolled, not Ready, lacks a unit that should be up, or can't be asked.
    """
    session, found = opened(site_name, hosts, cluster, fleet_file, local=local)
    states = list(found.look().values())
    out = options.output(as_json=as_json)
    if as_json:
        document = {"cluster": session.info.name, "site": site_name, "hosts": [state.as_json() for state in states]}
        out.document(document)
    else:
        show(site_name, states, out)
    return DONE if all(state.healthy for state in states) else FAILED


@site.command()
@click.argument("site_name", metavar="SITE")
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@common
@click.option("--plan", "only_plan", is_flag=True, help="Says what would be done, and does nothing.")
def apply(
    site_name: str,
    hosts: tuple[str, ...],
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    only_plan: bool,
) -> int:
    """Brings hosts to the current bundle of their pool: idle ones, one at a time, each Ready before the next.

    A host at work is left as it is, and said. One that is not Ready with its new bundle gets the one before back, and
    there it stops. Run again, it goes on where it stopped. Exit code 1 when a host was left as it is.
    """
    session, found = opened(site_name, hosts, cluster, fleet_file, local=local)
    out = options.output(as_json=as_json)
    this = Apply(found, lambda line: out.progress.print(line, markup=False, soft_wrap=True))
    head = {"cluster": session.info.name, "site": site_name, "planned": only_plan}
    try:
        outcomes = this.plan() if only_plan else this.run()
    except ApplyError as error:
        error.document = {**head, "hosts": [one.as_json() for one in this.done]}
        raise
    if as_json:
        out.document({**head, "hosts": [one.as_json() for one in outcomes]})
    elif only_plan:
        table = tables.plain_table("host", "would", "why")
        for one in outcomes:
            table.add_row(Text(one.host, style="bold"), WOULD[one.what], one.why)
        out.console.print(table)
    else:
        out.console.print(summary(outcomes))
    return FAILED if any(one.what == "skip" for one in outcomes) else DONE


@site.command()
@click.argument("site_name", metavar="SITE")
@local_option
@fleet_option
@json_option
@options.output_option("folder", "SITE-gateways", folder=True)
def gateway(site_name: str, *, local: bool, fleet_file: Path | None, as_json: bool, folder: Path | None) -> int:
    """Writes all that goes onto the site's VPN gateways: a folder each, named after its public address.

    Strongswan, its interfaces, FRR, nftables and the watchdog, for tunnels that `landbridge up links` has made. The
    folders hold the tunnels' keys: keep them to yourself. Written again, they replace those of before.
    """
    world = options.the_fleet(fleet_file)
    chosen, target = site_gateways.checked(world, site_name), (folder or Path(f"{site_name}-gateways")).absolute()
    place = sessions.the_place(world, local=local)
    made = site_gateways.rendered(world, place, chosen, target)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"site": chosen, "gateways": [one.as_json() for one in made]})
        return DONE
    table = tables.plain_table("gateway", "tunnels", "files", "plan", "folder", right=("files",))
    for one in made:
        where = Text(str(one.folder), overflow="fold")
        table.add_row(Text(one.gateway, style="bold"), "\n".join(one.tunnels), str(len(one.files)), one.plan, where)
    out.console.print(table)
    return DONE


WOULD = {"current": "stay", "skip": "be left as it is", "change": "change", "finish": "be uncordoned"}


def opened(
    site_name: str, names: tuple[str, ...], cluster: str | None, fleet_file: Path | None, *, local: bool
) -> tuple[Session, Hosts]:
    """Raises UsageError and LandbridgeError."""
    world = options.the_fleet(fleet_file)
    chosen = site_hosts.chosen(world, site_name, names, cluster)
    session = sessions.opened(world, next(iter(chosen.values())).cluster, local=local)
    return session, Hosts(session, chosen)


def summary(outcomes: list[Outcome]) -> str:
    count = {what: sum(one.what == what for one in outcomes) for what in ("changed", "finished", "current", "skip")}
    done = count["changed"] + count["finished"]
    if not done and not count["skip"]:
        return "Nothing to do: every host has the current bundle."
    left = f". Left as they are: {count['skip']}" if count["skip"] else ""
    return f"Changed: {done}. Had the current bundle: {count['current']}{left}."


def show(name: str, states: list[State], out: Output) -> None:
    table = tables.plain_table("host", "pool", "address", "node", "bundle", "runs")
    for state in states:
        table.add_row(
            Text(state.host, style="bold"),
            state.pool,
            state.address,
            node(state),
            bundle(state),
            ", ".join(state.runs[:3]) + (f" and {len(state.runs) - 3} more" if len(state.runs) > 3 else "") or "idle",
        )
    out.console.print(table)
    for state in states:
        for path in state.differs:
            out.console.print(Text(f"{state.host}: {path} differs", style="yellow"), soft_wrap=True)
        if state.unknown:
            out.console.print(Text(f"{state.host}: {state.unknown}", style="red"), soft_wrap=True)
    if missing := [state.host for state in states if not state.enrolled]:
        out.console.print(f"Not enrolled: {', '.join(missing)}. `landbridge site enrol {name} HOST` gives the command.")
    if any(state.enrolled and not state.unknown and not state.current for state in states):
        out.console.print(f"`landbridge site apply {name}` brings idle hosts to the current bundle.")


def node(state: State) -> Text:
    if not state.enrolled:
        return Text("not enrolled", style="yellow")
    words = ["Ready" if state.ready else "not Ready", *(["cordoned"] if state.cordoned else [])]
    words += [f"{unit} is not up" for unit in state.failed]
    return Text(", ".join(words), style="green" if state.ready and not state.failed else "red")


def bundle(state: State) -> Text:
    if state.unknown or not state.enrolled:
        return Text("unknown" if state.unknown else "none", style="yellow")
    return Text("current", style="green") if state.current else Text("differs, see below", style="yellow")
