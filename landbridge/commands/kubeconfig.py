"""`landbridge kubeconfig`: a file for kubectl and for every client library."""

import json
import sys
from pathlib import Path

import click

from landbridge.access import people
from landbridge.cluster import kubeconfig
from landbridge.cluster.info import MachineInfo
from landbridge.cluster.session import Session
from landbridge.errors import DONE, UsageError
from landbridge.local import enter

from . import kubeconfig_entry, options
from .options import cluster_option, fleet_option, local_option


@click.group("kubeconfig", invoke_without_command=True)
@cluster_option
@local_option
@fleet_option
@options.output_option("output", "CLUSTER.kubeconfig", stdout=True)
@click.option("--as", "person", metavar="PERSON", help="With a certificate of a few hours for someone of the fleet.")
@click.option("--hours", type=float, default=people.HOURS, show_default=True, help="How long that is good for.")
@click.option("--machine", metavar="NAME", help="Straight to one API machine, past DNS and balancer: break-glass.")
@click.option("--exec", "asks", is_flag=True, help="Without a key: kubectl asks us for one, good for an hour.")
@click.option("--merge", is_flag=True, help="The same into KUBECONFIG or ~/.kube/config, beside what is there.")
@click.option("--remove", is_flag=True, help="Take out of those again what --merge has written.")
@click.option("--context", "name", metavar="CONTEXT", help="Of --merge and --remove.  [default: FLEET-CLUSTER]")
@click.pass_context
def write_kubeconfig(
    context: click.Context,
    /,
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    output: Path | None,
    person: str | None,
    hours: float,
    machine: str | None,
    asks: bool,
    merge: bool,
    remove: bool,
    name: str | None,
) -> int:
    """Writes a kubeconfig that only its owner may read; merges it into no other unless told to.

    With --machine it holds the sealed credential of system:masters, for the day when DNS, the balancer or RBAC is
    broken; whoever reads that is in the secrets manager's log.
    """
    if context.invoked_subcommand is not None:
        return DONE
    fits(person=person, machine=machine, output=output, asks=asks, merge=merge, remove=remove, name=name)
    if remove:
        return kubeconfig_entry.taken_out(options.the_fleet(fleet_file), cluster, name, local=local)
    session = options.the_cluster(fleet_file, cluster, local=local)
    if merge or asks:
        config = kubeconfig_entry.made(session, name, person, local=local)
        if merge:
            return kubeconfig_entry.put_in(config)
        text = json.dumps(config, indent=2) + "\n"
    elif machine:
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


def fits(*, name: str | None, **given: str | bool | Path | None) -> None:
    """Raises UsageError for options that exclude each other."""
    if given["person"] and given["machine"]:
        raise UsageError("--as and --machine exclude each other: the way past everything is the break-glass one.")
    ways = {"--machine": "machine", "--exec": "asks", "--merge": "merge", "--remove": "remove"}
    said = [option for option, word in ways.items() if given[word]]
    if len(said) > 1:
        raise UsageError(f"{' and '.join(said)} exclude each other: each is another kubeconfig.")
    if given["output"] and (given["merge"] or given["remove"]):
        raise UsageError("--output names a file of its own, which --merge and --remove leave alone: leave it out.")
    if name and not (given["merge"] or given["remove"]):
        raise UsageError("--context goes with --merge or --remove: another file has one context alone.")


@write_kubeconfig.command()
@cluster_option
@local_option
@fleet_option
@click.option("--as", "person", metavar="PERSON", help="For someone of the fleet.  [default: the administrator]")
def credential(*, cluster: str | None, local: bool, fleet_file: Path | None, person: str | None) -> int:
    """Prints a credential of an hour in Kubernetes' own form. What `--exec` and `--merge` write has kubectl call this.

    It is kept in a file that only its owner may read, and made anew five minutes before it ends.
    """
    from landbridge.access import credential_cache, exec_credential  # certificates: kubectl's other commands need none

    kept = credential_cache.CredentialCache(enter.HOME, sys.argv[3:])
    session = options.the_cluster(fleet_file, cluster, local=local)
    issued = exec_credential.issue(session, person)
    document = exec_credential.document(issued)
    state = session.place.stack_file(session.info.name) if session.place.cloud else None
    # With options before the command's name it was asked in another way than kubectl asks.
    if sys.argv[1:3] == credential_cache.WORDS:
        kept.write(document, issued.expires.timestamp(), state)
    click.echo(document)
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
