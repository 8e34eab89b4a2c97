"""The restore as a command: asks first, and says afterwards exactly what is back, what is lost, what is frozen."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from landbridge.cluster import freeze
from landbridge.cluster.session import Session
from landbridge.errors import ConsentError, LandbridgeError, UsageError
from landbridge.output import Output

from .restore import Restore, Restored, Source, from_bucket
from .store import Store


def restored(
    session: Session, store: Store, ring: str, source: str | None, survivor: str | None, out: Output, *, yes: bool
) -> Mapping[str, Any]:
    """Raises ConsentError, UsageError and LandbridgeError."""
    info = session.info
    if survivor not in (None, "newest", *(machine.name for machine in info.etcd)):
        known = ", ".join(machine.name for machine in info.etcd)
        raise UsageError(f"{survivor} is no etcd machine of {info.name}. These are: {known}; or newest.")
    chosen = from_bucket(store, info, ring, source) if source else None
    ask(info.name, ring, chosen, survivor, out, yes=yes)
    restore = Restore(
        session.remote, info, store, ring, lambda text: out.progress.print(text, markup=False, soft_wrap=True)
    )
    done = restore.run(chosen, survivor)
    frozen = froze(session, done) if ring == "main" else ""
    if not out.as_json:
        for line in summary(done, frozen):
            out.console.print(line, markup=False, soft_wrap=True)
    return {**done.as_json(), "frozen": ring == "main" and not frozen, "freeze_problem": frozen or None}


def ask(cluster: str, ring: str, source: Source | None, survivor: str | None, out: Output, *, yes: bool) -> None:
    """The consent. Raises ConsentError."""
    back = (
        f"to {source.label}, {old(source.at)} old" if source else f"to what is left on {survivor} etcd machine's disk"
    )
    what = f"This takes etcd {ring} of {cluster} back {back}. The API stops meanwhile; what was written since is lost."
    if yes:
        return
    if not out.interactive:
        raise ConsentError(f"Nothing was changed. {what} There is no terminal to ask on. To agree: --yes")
    click.secho(what, fg="red")
    if click.prompt(f"Type {cluster} to go on", default="", show_default=False) != cluster:
        raise ConsentError("Nothing was changed.")


def froze(session: Session, done: Restored) -> str:
    """Freezes scale-down; gives the problem if that failed. By break-glass where the old past has no admins yet."""
    why = f"etcd {done.ring} was restored from {done.source}: it may know other nodes than there are"
    try:
        freeze.freeze(session.admin, why)
    except LandbridgeError:
        try:
            freeze.freeze(session.break_glass(), why)
        except LandbridgeError as error:
            return str(error)
    return ""


def summary(done: Restored, problem: str) -> list[str]:
    lines = [
        f"etcd {done.ring} is back at revision {done.revision}, from {done.source}; it goes on at {done.continues_at}.",
    ]
    if "left on" in done.source:
        lines.append(
            f"This member had received {done.dropped} more entries without knowing them to be agreed on: they are "
            "dropped. What only the lost members had is not known."
            if done.dropped
            else "It had no entry that was not agreed on; what only the lost members had is not known."
        )
    else:
        lines.append(f"Lost: everything written after {done.taken_at:%Y-%m-%d %H:%M:%S} UTC, {old(done.taken_at)} ago.")
    lines.append(f"The old data are kept in {done.kept} on each machine: delete them when nothing is missed.")
    if done.ring == "main" and not problem:
        lines.append(f"All scale-down is frozen until you release it: `{freeze.RELEASE}`.")
    elif done.ring == "main":
        lines.append(f"WARNING: scale-down could not be frozen: {problem}. Stop the autoscaler by hand.")
    return lines


def old(at: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - at).total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h {seconds % 3600 // 60} min"
