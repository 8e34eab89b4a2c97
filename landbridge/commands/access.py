"""`landbridge access`: who may use a cluster, by name and team."""

from pathlib import Path

import click

from landbridge import tables
from landbridge.access import people
from landbridge.cluster import kubeconfig
from landbridge.errors import DONE

from . import options
from .kubeconfig import hand_out
from .options import cluster_option, fleet_option, json_option, local_option, together

common = together(cluster_option, local_option, fleet_option, json_option)


@click.group()
def access() -> None:
    """People's access to a cluster: certificates of a few hours, and rights by name and team."""


@access.command("list")
@common
def list_(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows everybody in the fleet file: their team, rights, and until when they have a certificate."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    found = people.listed(session.admin, session.world.fleet)
    if as_json:
        out.document({"cluster": session.info.name, "people": [one.as_json() for one in found]})
        return DONE
    table = tables.plain_table("person", "team", "rights", "certificate until")
    for one in found:
        until = f"{one.expires.astimezone():%Y-%m-%d %H:%M}" if one.expires else ""
        rights = ", ".join(one.rights) or "none"
        table.add_row(one.person, one.team, rights + ("" if one.known else " (not in the fleet file)"), until)
    out.console.print(table)
    return DONE


@access.command()
@click.argument("person")
@common
@click.option("--hours", type=float, default=people.HOURS, show_default=True, help="How long the certificate holds.")
@options.output_option("output", "PERSON.kubeconfig", stdout=True)
def grant(
    person: str,
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    hours: float,
    output: Path | None,
) -> int:
    """Gives PERSON, who stands in the fleet file, a certificate and the rights of their team."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    credential, expires = people.grant(session.admin, session.world.fleet, person, hours)
    output = output or Path(f"{person}.kubeconfig")
    if as_json and output == options.STDOUT:
        raise click.UsageError("--json and --output - exclude each other: both want stdout.")
    hand_out(kubeconfig.kubeconfig(session.info, credential), output)
    team = session.world.fleet.people[person].team
    if as_json:
        document = {"person": person, "team": team, "expires": expires, "file": str(output.absolute())}
        out.document({"cluster": session.info.name, **document})
    else:
        click.echo(f"{person} of {team} may use {session.info.name} for {people.left(expires)}.", err=True)
    return DONE


@access.command()
@click.argument("person")
@common
def remove(person: str, *, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Takes PERSON's rights away, at once.

    A certificate can't be revoked, so the rights behind it go: whoever holds it may do nothing more with it. If PERSON
    is granted access again before it ends, it counts again.
    """
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    number = people.remove(session.admin, person)
    if as_json:
        out.document({"cluster": session.info.name, "person": person, "bindings_removed": number})
    elif number:
        out.console.print(
            f"{person} has no rights in {session.info.name} any more: {number} bindings are gone. Certificates that "
            "were given out can't be revoked; until they end they prove a name, and that name may do nothing.",
            soft_wrap=True,
        )
    else:
        out.console.print(f"{person} had no rights in {session.info.name}.")
    return DONE
