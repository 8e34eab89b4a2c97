"""`landbridge ssh`: people's certificates for machines."""

from datetime import UTC, datetime
from pathlib import Path

import click

from components.boot.certificates import HOURS
from landbridge.certificates import people
from landbridge.cluster import session as sessions
from landbridge.errors import DONE, UsageError
from landbridge.ssh import issuing
from landbridge.ssh.store import Store
from landbridge.up.consent import ask

from . import options
from .options import fleet_option, json_option, local_option, together

region_option = click.option("--region", metavar="NAME", help="One region; all without it.")
common = together(region_option, local_option, fleet_option, json_option)


@click.group()
def ssh() -> None:
    """Certificates that let people in by SSH for some hours. Fleets with `ssh: certificates` have them."""


def opened(fleet_file: Path | None, region: str | None, *, local: bool) -> list[Store]:
    world = options.the_fleet(fleet_file)
    issuing.regions(world, region)
    return issuing.stores(world, sessions.the_place(world, local=local), region)


@ssh.command()
@click.argument("person")
@click.option("--hours", type=float, default=HOURS, show_default=True, help="How long it holds.")
@click.option("--key", type=click.Path(path_type=Path), metavar="FILE", help="A .pub file; else the fleet file's key.")
@options.output_option("out", "PERSON-REGION-cert.pub")
@common
def add(
    person: str,
    *,
    hours: float,
    key: Path | None,
    out: Path | None,
    region: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Signs the public key of PERSON, who stands in the fleet file, for some hours.

    The certificate is no secret, and of no use without the key. PERSON logs in under their own name, on machines that
    their team may log in to.
    """
    world = options.the_fleet(fleet_file)
    issuing.regions(world, region)
    public = issuing.public_key(world, person, hours, key)
    given = issuing.add(opened(fleet_file, region, local=local), person, public, hours, out)
    console = options.output(as_json=as_json)
    if as_json:
        console.document({"person": person, "certificates": [one.as_json() for one in given]})
        return DONE
    for one in given:
        line = f"{one.file}: {person} in {one.region}, until {one.until.astimezone():%Y-%m-%d %H:%M}"
        console.console.print(f"{line}, certificate {one.serial}", soft_wrap=True)
    console.console.print(f"Log in with: ssh -o CertificateFile={given[0].file} {person}@HOST", soft_wrap=True)
    return DONE


@ssh.command()
@click.option("--config", is_flag=True, help="What ~/.ssh/config needs for machines of pools, which have no names.")
@together(local_option, fleet_option, json_option)
def hosts(*, config: bool, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Prints who vouches for machines, as lines for known_hosts: then no login asks whether a key is the right one.

    Save them as a file that your ~/.ssh/config names with UserKnownHostsFile, and those of --config as one that it
    names with Include. They hold until a stack is built anew.
    """
    world = options.the_fleet(fleet_file)
    issuing.regions(world, None)
    if config and not as_json:
        click.echo(issuing.config(world), nl=False)
        return DONE
    found = issuing.known_hosts(world, sessions.the_place(world, local=local))
    if as_json:
        options.output(as_json=True).document({"known_hosts": found, "config": issuing.config(world)})
    elif found:
        click.echo("".join(found.values()), nl=False)
    else:
        raise UsageError(f"No stack has machines with certificates yet. {issuing.BRING_UP}")
    return DONE


@ssh.command("list")
@common
def list_(*, region: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows certificates of the last 90 days: whose, until when, and whether they count."""
    found, now = opened(fleet_file, region, local=local), datetime.now(UTC)
    listed, out = people.rows(found), options.output(as_json=as_json)
    if as_json:
        out.document({"certificates": [{"region": region, **one.as_json(now)} for region, one in listed]})
        return DONE
    if not listed:
        out.console.print("Nobody has a certificate yet. `landbridge ssh add PERSON` gives one.")
        return DONE
    out.console.print(people.table(listed, now, "%Y-%m-%d %H:%M"))
    return DONE


@ssh.command()
@click.argument("person")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def revoke(person: str, *, yes: bool, region: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Takes PERSON's certificates back: within a minute they let nobody in. `landbridge vpn revoke` does so, too.

    Also for somebody who stands in the fleet file no more. Who is logged in stays so.
    """
    found, out = opened(fleet_file, region, local=local), options.output(as_json=as_json)
    if not people.known(found[0].world, found, person):
        raise UsageError(f"{person} had no certificate, and is nobody of the fleet. `landbridge ssh list` shows all.")
    count = sum(len(some) for some in people.holding(found, person).values())
    if count and not yes:
        ask(f"Take back {count} of {person}'s certificates?", out)
    gone = people.revoke(found, person)
    if as_json:
        out.document({"person": person, "revoked": gone})
    elif count:
        revoked = "; ".join(f"{name}: {', '.join(serials)}" for name, serials in gone.items() if serials)
        out.console.print(f"{person}'s certificates let nobody in within a minute. Revoked: {revoked}", soft_wrap=True)
    else:
        out.console.print(f"{person} has no certificate that counts. The lists were signed anew.")
    return DONE
