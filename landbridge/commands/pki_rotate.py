"""`landbridge pki rotate`: a cluster's keys, phase by phase."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from components.control_plane.rotation import BACK, ON, SUBJECTS
from fleet.rotations import Standing
from landbridge import tables
from landbridge.errors import DONE, LandbridgeError, UsageError
from landbridge.pki.phases import Moving, astray, following_words, moving, picked, waiting, words
from landbridge.up import consent

from . import options
from .options import fleet_option, json_option, local_option

if TYPE_CHECKING:
    from landbridge.pki.rotate import Rotation


@click.command()
@click.argument("name", metavar="[CLUSTER]", required=False)
@click.option("--only", multiple=True, type=click.Choice(SUBJECTS), help="One key; may be given more than once.")
@click.option("--all", "whole", is_flag=True, help="All phases, not just the next one.")
@click.option(
    "--now", is_flag=True, help="Does not wait for what kubelets and clouds still hold: for a key that leaked."
)
@click.option(
    "--back", is_flag=True, help="One phase back instead: the old key signs again, then the new one is dropped."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@local_option
@fleet_option
@json_option
def rotate(
    name: str | None,
    *,
    only: tuple[str, ...],
    whole: bool,
    now: bool,
    back: bool,
    yes: bool,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
) -> int:
    """Puts successors in the place of keys: a phase a call, each with an up of the stack and a roll of all machines.

    Add the new one, sign with it, drop the old one; no call fails meanwhile. Stopped anywhere, it goes on when called
    again. Where it is stands in fleet.pki.yaml: commit that after each call. Until the old one is dropped, --back
    takes the new one back, phase by phase.
    """
    session = options.the_cluster(fleet_file, name, local=local)
    out = options.output(as_json=as_json)
    from landbridge.pki.rotate import Rotation  # the engine with it

    way = BACK if back else ON
    this = Rotation(session, out, now=now, way=way)
    cluster, begun = session.info.name, this.begun(only)
    if not begun and (why := astray(cluster, this.at, only, way)):
        raise UsageError(why)
    begin = begun or this.ready(picked(this.at, only, way))
    if begin and not yes:
        for key in begin:
            next_step = f"goes on with {words(this.at[key])}" if begun else following_words(this.at[key], way)
            out.console.print(f"{key}: {next_step}", markup=False, soft_wrap=True)
        consent.ask(f"Then all {len(session.info.machines)} machines are replaced, one at a time. Go on?", out)
    try:
        this.run(only, whole=whole)
    except LandbridgeError as error:
        error.document = {"cluster": cluster, **_as_json(this)}
        raise
    delayed = {} if now else waiting(this.at, picked(this.at, only, way), datetime.now(UTC), way)
    if as_json:
        out.document({"cluster": cluster, **_as_json(this), "waiting": delayed})
        return DONE
    for key, until in delayed.items():
        out.console.print(f"{key}: not before {until:%Y-%m-%d %H:%M} UTC; --now does not wait", soft_wrap=True)
    left = moving(this.at, datetime.now(UTC))
    show_phases(cluster, left, out.console)
    for line in advice(cluster, this.moved, left):
        out.console.print(line, soft_wrap=True)
    return DONE


def _as_json(this: "Rotation") -> dict[str, Any]:
    return {
        "moved": [
            {"key": key, "from": before.model_dump(), "to": after.model_dump()} for key, before, after in this.moved
        ],
        "replaced": [one.as_json() for one in this.replaced],
        "keys": {key: at.model_dump() for key, at in this.at.items()},
    }


def advice(cluster: str, moved: list[tuple[str, Standing, Standing]], left: list[Moving]) -> list[str]:
    """What people have to do before the next call, and whether there is one."""
    phases = {key: after.phase for key, _, after in moved}
    lines = []
    if phases.get("kubernetes") == "trust":
        lines.append("Before the next call: `landbridge kubeconfig` anew, on every laptop, so that it knows both.")
    if phases.get("kubernetes") == "issue":
        lines.append(
            "Before the next call: `landbridge access grant NAME` anew for everybody: older certificates end then."
        )
    if phases.get("kubernetes") == "back":
        lines.append(
            "Before the next call: `landbridge access grant NAME` anew for whoever got a certificate since the new key "
            "signed: it ends then."
        )
    if any(key == "kubernetes" and after.given_up > before.given_up for key, before, after in moved):
        lines.append("`landbridge kubeconfig` anew: those written meanwhile still trust the key that was given up.")
    if moved:
        lines.append("Commit fleet.pki.yaml.")
    if not left:
        lines.append(f"Every key of {cluster} is at rest.")
    return lines


def show_phases(cluster: str, keys: list[Moving], console: Console) -> None:
    if not keys:
        return
    table = tables.plain_table("key", "phase", "next", "not before")
    for one in keys:
        following = one.following if one.finished else "this phase, to its end"
        until = f"{one.not_before:%Y-%m-%d %H:%M} UTC" if one.not_before else "now"
        table.add_row(Text(one.key, style="bold"), one.phase, following, until)
    console.print(table)
    back = ", ".join(one.key for one in keys if one.phase == "back")
    if back:
        console.print(f"`landbridge pki rotate {cluster} --back` goes on with {back}.", soft_wrap=True)
    if any(one.phase != "back" for one in keys):
        console.print(f"`landbridge pki rotate {cluster}` goes on.", soft_wrap=True)
