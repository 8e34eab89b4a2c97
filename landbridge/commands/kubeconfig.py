"""`landbridge kubeconfig`: a file for kubectl and for every client library."""

from pathlib import Path

import click

from landbridge.access import people
from landbridge.cluster import kubeconfig
from landbridge.cluster.info import MachineInfo
from landbridge.cluster.session import Session
from landbridge.errors import DONE, UsageError

from . import options
from .options import cluster_option, fleet_option, local_option


@click.command("kubeconfig")
@cluster_option
@local_option
@fleet_option
@options.output_option("output", "CLUSTER.kubeconfig", stdout=True)
@click.option("--as", "person", metavar="PERSON", help="With a certificate of a few hours for someone of the fleet.")
@click.option("--hours", type=float, default=people.HOURS, show_default=True, help="How long that is good for.")
@click.option("--machine", metavar="NAME", help="Straight to one API machine, past DNS and balancer: break-glass.")
def write_kubeconfig(
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    output: Path | None,
    person: str | None,
    hours: float,
    machine: str | None,
) -> int:
    """Writes a kubeconfig that only its owner may read; merges it into no other.

    With --machine it holds the sealed credential of system:masters, for the day when DNS, the balancer or RBAC is
    broken; whoever reads that is in the secrets manager's log.
    """
    if person and machine:
        raise UsageError("--as and --machine exclude each other: the way past everything is the break-glass one.")
    session = options.the_cluster(fleet_file, cluster, local=local)
    if machine:
        text = kubeconfig.kubeconfig(
            session.info, kubeconfig.break_glass(session.cloud, session.info), api_machine(session, machine)
        )
        click.secho(
            f"BREAK-GLASS: this is system:masters of {session.info.name}. No RBAC binds it and nobody can revoke it. "
            "Delete the file when you are done.",
            fg="red",
            bold=True,
            err=True,
        )
    elif person:
        credential, expires = people.grant(session.admin, session.world.fleet, person, hours)
        text = kubeconfig.kubeconfig(session.info, credential)
        click.echo(f"The certificate of {person} is good for {people.left(expires)}.", err=True)
    else:
        text = kubeconfig.kubeconfig(session.info, kubeconfig.admin(session.cloud, session.info))
    hand_out(text, output or Path(f"{session.info.name}.kubeconfig"))
    return DONE


def hand_out(text: str, output: Path) -> None:
    """To stdout only when that was asked for: there is a key in it."""
    if output == options.STDOUT:
        click.echo(text, nl=False)
        return
    path = output.absolute()
    kubeconfig.write(path, text)
    click.echo(f"Written: {path} (mode 0600). Use it with `export KUBECONFIG={path}`.", err=True)


def api_machine(session: Session, name: str) -> MachineInfo:
    known = {machine.name: machine for machine in session.info.api}
    if name not in known:
        raise UsageError(f"{name} is no API machine of {session.info.name}. These are: {', '.join(known)}.")
    return known[name]
