"""`landbridge doctor`: what is wrong with a fleet, worst first, each with what to do."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import click
from rich.text import Text

from landbridge import places
from landbridge.doctor import checks, files
from landbridge.doctor.checks import Looked
from landbridge.doctor.finding import SEVERITIES, Finding, Severity, sentence
from landbridge.doctor.subject import Patient
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.local import enter
from landbridge.output import Output
from local import client

from . import options
from .options import fleet_option, json_option, local_option

# Sign, colour and word.
STYLES: dict[Severity, tuple[str, str, str]] = {
    "broken": ("✗", "bold red", "broken"),
    "ailing": ("!", "yellow", "ailing"),
    "soon": ("·", "cyan", "to see to in time"),
}


@click.command()
@local_option
@fleet_option
@json_option
def doctor(*, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Looks over everything in 15 seconds and says what is wrong, worst first, with what to do about each.

    Set-up, fleet file and ledger, Pulumi's state, the local cloud, clusters with etcd, machines and certificates,
    links, hosts, and what clouds hold of stacks that are not up. It changes nothing. Exit code 1 if anything is wrong.
    """
    path = options.existing(fleet_file)
    patient, begun = admitted(path, ("--fleet", str(fleet_file)) if fleet_file else (), local=local)
    looked = checks.run(checks.of(patient), begun)
    out = options.output(as_json=as_json)
    if as_json:
        document = {"well": not looked.findings, "seconds": round(looked.seconds, 1), "areas": looked.areas}
        out.document({**document, "findings": [one.as_json() for one in looked.findings]})
    else:
        show(looked, out)
    code = FAILED if looked.findings else DONE
    if looked.late:
        leave(code)
    return code


def leave(code: int) -> NoReturn:
    """At once: Python would wait for threads that hang."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def admitted(path: Path, named: tuple[str, ...], *, local: bool) -> tuple[Patient, list[Finding]]:
    """Whom to look at. On a local cloud that is up, this process continues inside it; one that is down is a finding."""
    cloud = client.status(enter.LOCAL_HOME) if local else None
    if cloud and not client.inside(cloud):
        enter.enter(cloud)
    world, begun = files.read(path)
    patient = Patient(path, world, options=(*(["--local"] if local else []), *named))
    if local:
        patient.cloud, patient.home = cloud, enter.LOCAL_HOME
        if cloud and world:
            patient.place = places.local_place(world, cloud)
    elif world:
        try:
            patient.place = places.cloud_place(world)
        except UsageError as error:
            what, _, remedy = str(error).partition(". ")
            begun.append(Finding(files.AREA, "broken", what, remedy))
    return patient, begun


def show(looked: Looked, out: Output) -> None:
    for one in looked.findings:
        sign, colour, _ = STYLES[one.severity]
        out.console.print(Text.assemble((f"{sign} {one.area}: ", colour), sentence(one.what)), soft_wrap=True)
        out.console.print(Text(f"    {sentence(one.remedy)}", style="dim"), soft_wrap=True)
    counts = [(sum(one.severity == which for one in looked.findings), STYLES[which][2]) for which in SEVERITIES]
    summary = ", ".join(f"{many} {what}" for many, what in counts if many)
    where = f"{len(looked.areas)} looks in {looked.seconds:.1f} s"
    if summary:
        out.console.print(Text.assemble((summary, "bold"), f" ({where})"))
    else:
        out.console.print(
            Text.assemble(("All is well: ", "green"), ", ".join(looked.areas), f" ({where})"), soft_wrap=True
        )
