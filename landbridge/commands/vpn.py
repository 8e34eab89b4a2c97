"""`landbridge vpn`: people's laptops."""

from datetime import UTC, datetime
from pathlib import Path

import click
from rich.text import Text

from components.links.laptops.authority import DAYS, LIST_WARNING_DAYS, MOST_DAYS
from landbridge.certificates import people
from landbridge.cluster import session as sessions
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.ssh import issuing as ssh_giving
from landbridge.up.consent import ask
from landbridge.vpn import issuing
from landbridge.vpn.expiry import expiring_soon
from landbridge.vpn.store import Store

from . import options
from .options import fleet_option, json_option, local_option, together

region_option = click.option("--region", metavar="NAME", help="One region of those with laptops; all without it.")
common = together(region_option, local_option, fleet_option, json_option)


@click.group()
def vpn() -> None:
    """Profiles for people's laptops. Regions with `laptops: true` have servers for them."""


def opened(fleet_file: Path | None, region: str | None, *, local: bool) -> list[Store]:
    world = options.the_fleet(fleet_file)
    issuing.regions(world, region)
    return issuing.stores(world, sessions.the_place(world, local=local), region)


@vpn.command()
@click.argument("person")
@click.option("--days", type=float, default=DAYS, show_default=True, help="How long it holds.")
@options.output_option("out", "PERSON-REGION.ovpn")
@click.option("--renew", is_flag=True, help="One more for somebody who has one that holds.")
@common
def add(
    person: str,
    *,
    days: float,
    out: Path | None,
    renew: bool,
    region: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Gives PERSON, who stands in the fleet file, a certificate and writes their profile.

    The profile is one file for OpenVPN Connect, Tunnelblick or NetworkManager. It holds a private key that is nowhere
    else: hand it over as you do a password. One certificate is for one laptop.
    """
    people.check(options.the_fleet(fleet_file), person, days, MOST_DAYS, "--days")
    found = opened(fleet_file, region, local=local)
    given = issuing.add(found[0].world, found, person, days, out, renew=renew)
    console = options.output(as_json=as_json)
    if as_json:
        console.document({"person": person, "profiles": [one.as_json() for one in given]})
        return DONE
    for one in given:
        line = f"{one.file}: {person} by {one.region}, until {one.until:%Y-%m-%d}, certificate {one.serial}"
        console.console.print(line, soft_wrap=True)
    return DONE


@vpn.command("list")
@common
def list_(*, region: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows every certificate that was given: whose, since when, until when, and whether it counts."""
    found, now = opened(fleet_file, region, local=local), datetime.now(UTC)
    listed, out = people.rows(found), options.output(as_json=as_json)
    there = found[0].world.fleet.people
    if as_json:
        rows = [{"region": region, **one.as_json(now), "known": one.person in there} for region, one in listed]
        out.document({"certificates": rows})
        return DONE
    if not listed:
        out.console.print("Nobody has a profile yet. `landbridge vpn add PERSON` gives one.")
        return DONE
    out.console.print(people.table(listed, now, "%Y-%m-%d"))
    for person in sorted({one.person for _, one in listed if one.holds(now)} - there.keys()):
        out.console.print(
            Text(f"{person} is not in the fleet file any more: `landbridge vpn revoke {person}`.", style="yellow"),
            soft_wrap=True,
        )
    return DONE


@vpn.command()
@click.argument("person")
@click.option("--serial", metavar="NUMBER", help="This certificate alone, as `landbridge vpn list` shows it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def revoke(
    person: str,
    *,
    serial: str | None,
    yes: bool,
    region: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Takes PERSON's certificates back: within a minute their sessions end, and no new one begins.

    Those for SSH, too, in every region, unless one certificate alone is meant. Also for somebody who stands in the
    fleet file no more.
    """
    found, out = opened(fleet_file, region, local=local), options.output(as_json=as_json)
    world = found[0].world
    by_ssh = ssh_giving.everywhere(world, found[0].place) if serial is None else []
    if not people.known(world, [*found, *by_ssh], person):
        raise UsageError(
            f"{person} never had a certificate, and is nobody of the fleet. `landbridge vpn list` shows all."
        )
    live = [people.holding(some, person, serial) for some in (found, by_ssh)]
    count = sum(len(certificates) for kind in live for certificates in kind.values())
    if serial and not count:
        raise UsageError(f"{person} has no certificate {serial} that counts. `landbridge vpn list` shows all.")
    if count and not yes:
        ask(f"Take back {count} of {person}'s certificates?", out)
    gone, ssh_gone = people.revoke(found, person, serial), people.revoke(by_ssh, person)
    if as_json:
        out.document({"person": person, "revoked": gone, "ssh": ssh_gone})
    elif count:
        every = [*gone.items(), *((f"{name} by SSH", serials) for name, serials in ssh_gone.items())]
        revoked = "; ".join(f"{name}: {', '.join(serials)}" for name, serials in every if serials)
        out.console.print(f"{person} is out within a minute. Revoked: {revoked}", soft_wrap=True)
    else:
        out.console.print(f"{person} has no certificate that counts. The lists were signed anew.")
    return DONE


@vpn.command()
@click.option(
    "--within",
    "within_days",
    type=float,
    default=LIST_WARNING_DAYS,
    show_default=True,
    metavar="DAYS",
    help="How soon.",
)
@common
def expiring(*, within_days: float, region: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows what ends soon: people's certificates, servers' ones, the list of revoked ones, the authority.

    Exit code 1 when anything does, or is wrong already: for a timer that writes a mail.
    """
    found, out = opened(fleet_file, region, local=local), options.output(as_json=as_json)
    now = datetime.now(UTC)
    soon = [one for store in found for one in expiring_soon(store, within_days, now)]
    if as_json:
        out.document({"expiring": [one.as_json() for one in soon]})
    elif not soon:
        out.console.print(f"Nothing ends within {within_days:g} days.")
    for one in [] if as_json else soon:
        when = f"ends {one.until:%Y-%m-%d}" if one.until else "WRONG"
        look = "red" if one.until is None or one.until < now else "yellow"
        line = Text.assemble((f"{one.region}: {one.what}", "bold"), " ", (when, look), f": {one.remedy}")
        out.console.print(line, soft_wrap=True)
    return FAILED if soon else DONE


@vpn.command()
@common
def sign(*, region: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Signs the lists of revoked certificates anew, so that they hold for another half a year.

    Each `add` and `revoke` does so, too.
    """
    ends = issuing.sign(opened(fleet_file, region, local=local))
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"lists": ends})
        return DONE
    for name, until in ends.items():
        out.console.print(f"{name}: the list holds until {until:%Y-%m-%d}.")
    return DONE
