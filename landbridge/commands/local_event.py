"""`landbridge local event`: what a cloud announces of a machine, as nothing ails by itself here."""

from datetime import timedelta
from typing import Any

import click

from landbridge.errors import DONE, UsageError
from landbridge.local import enter
from landbridge.local.enter import LOCAL_HOME
from landbridge.local.own_api import ask
from local import client
from local.environment import AWS_URL, AZURE_URL

from . import options
from .durations import Duration

# By cloud, in its own words: what it is told with, and what is to be taken back by.
EC2 = ("system-reboot", "instance-reboot", "system-maintenance", "instance-retirement", "instance-stop")
SPOT = ("spot", "rebalance")
AZURE = ("Freeze", "Reboot", "Redeploy", "Preempt", "Terminate")


@click.command()
@click.argument("machine", metavar="MACHINE")
@click.argument("kind", required=False, metavar="[KIND]")
@click.option(
    "--in", "after", type=Duration(), help="So long from now.  [default: the least notice that the cloud gives]"
)
@click.option("--for", "long", type=Duration(), help="How long it lasts, on AWS.  [default: 2h]")
@click.option("--withdraw", is_flag=True, help="Take back what was announced.")
@options.json_option
def event(
    machine: str, kind: str | None, *, after: timedelta | None, long: timedelta | None, withdraw: bool, as_json: bool
) -> int:
    """Has a local cloud announce KIND of MACHINE (a name or an instance id), in the cloud's own form, and do it then.

    On AWS: system-reboot, instance-reboot, system-maintenance, instance-retirement, instance-stop, and of spot machines
    spot and rebalance. On Azure: Freeze, Reboot, Redeploy, Preempt, Terminate.
    """
    cloud = client.status(LOCAL_HOME)
    if cloud is None:
        raise UsageError("The local cloud is not up: it has no machines. `landbridge local start` has it go on.")
    enter.entered()
    id_ = str(client.machine(cloud, machine)["instance"])
    on_aws = id_.startswith("i-")
    known = (*EC2, *SPOT) if on_aws else AZURE
    if not withdraw and kind not in known:
        raise UsageError(f"{machine} is in {'AWS' if on_aws else 'Azure'}, which announces one of: {', '.join(known)}.")
    if withdraw:
        told = taken_back(id_, on_aws=on_aws)
    elif on_aws:
        told = ask("POST", f"{AWS_URL}/landbridge-api/events", wanted(id_, str(kind), after, long))
    else:
        body = {"id": id_, "type": kind, **({"in_seconds": after.total_seconds()} if after is not None else {})}
        told = ask("POST", f"{AZURE_URL}/landbridge-api/announce", body)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"machine": machine, **told})
    else:
        what = "What was announced is taken back" if withdraw else f"{kind} is announced"
        out.console.print(f"{what} of {machine}: `landbridge maintenance --local` shows it.", soft_wrap=True)
    return DONE


def wanted(id_: str, code: str, after: timedelta | None, long: timedelta | None) -> dict[str, Any]:
    given = {"in_seconds": after, "lasts_seconds": long}
    return {
        "instance": id_,
        "code": code,
        **{name: one.total_seconds() for name, one in given.items() if one is not None},
    }


def taken_back(id_: str, *, on_aws: bool) -> dict[str, Any]:
    """All that stands of it. Raises UsageError."""
    if not on_aws:
        found: dict[str, Any] = ask("POST", f"{AZURE_URL}/landbridge-api/withdraw", {"id": id_})
        return found
    world = ask("GET", f"{AWS_URL}/landbridge-api/world")
    events = [one["id"] for each in world["machines"] if each["id"] == id_ for one in each["announced"]]
    if not events:
        raise UsageError(f"Nothing is announced of {id_}.")
    return {"withdrawn": [ask("POST", f"{AWS_URL}/landbridge-api/withdraw", {"event": one})["id"] for one in events]}
