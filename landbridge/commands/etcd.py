"""`landbridge etcd`: looking after the two etcd rings of a cluster."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from landbridge import tables
from landbridge.cluster.session import Session
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.etcd import backup as backups
from landbridge.etcd import defrag as defrags
from landbridge.etcd import health, second_region_copies, snapshot_age
from landbridge.etcd import replace as replaces
from landbridge.etcd import store as stores
from landbridge.etcd.restore_command import old, restored
from landbridge.etcd.ring import FULL, RING, Ctl, View
from landbridge.output import Output

from . import options
from .options import cluster_option, fleet_option, json_option, local_option, together

ring_option = click.option("--ring", type=click.Choice(list(RING)), help="Only this ring. Default: both.")
the_ring_option = click.option(
    "--ring", type=click.Choice(list(RING)), default="main", show_default=True, help="Which ring."
)
common = together(cluster_option, local_option, fleet_option, json_option)


@click.group()
def etcd() -> None:
    """A cluster's two etcd rings: main holds everything but events, which have the other.

    On real clouds the commands reach machines through AWS Systems Manager or SSH, as the fleet file's `access` says.
    """


def rings(ring: str | None) -> list[str]:
    return [ring] if ring else list(RING)


def look(session: Session, names: Iterable[str]) -> list[View]:
    ctl = Ctl(session.remote, session.info)
    return [ctl.look(name) for name in names]


@etcd.command()
@ring_option
@common
def members(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, ring: str | None) -> int:
    """Shows every member: who leads, how full it is, how far it is. Exit code 1 when something ails."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    views = look(session, rings(ring))
    ails = {view.ring: view.ails(session.info.etcd) for view in views}
    if as_json:
        out.document({"cluster": session.info.name, "rings": [{**v.as_json(), "ails": ails[v.ring]} for v in views]})
    else:
        for view in views:
            out.console.print(table(view))
        for name, found in ails.items():
            for ail in found:
                out.console.print(Text.assemble((f"etcd {name}: ", "bold red"), ail), soft_wrap=True)
    return FAILED if any(ails.values()) else DONE


def table(view: View) -> Any:
    columns = ("member", "id", "version", "role", "MiB", "in use", "raft index")
    made = tables.plain_table(*columns, title=f"etcd {view.ring}", right=["MiB", "in use", "raft index"])
    for one in view.members:
        role = "leader" if one.leader else "learner" if one.learner else "follower" if one.answers else "silent"
        full = bool(one.db_bytes and one.quota_bytes and one.db_bytes > FULL * one.quota_bytes)
        made.add_row(
            Text(one.name, style="bold"),
            one.id,
            one.version,
            Text(role, style="red" if role == "silent" else ""),
            Text(mib(one.db_bytes), style="yellow" if full else ""),
            mib(one.in_use_bytes),
            str(one.applied or ""),
        )
    return made


def mib(number: int | None) -> str:
    return "" if number is None else f"{number / 1024**2:,.1f}"


def size(number: int | None) -> str:
    return f"{mib(number)} MiB" if number is not None else ""


@etcd.command()
@ring_option
@common
def status(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, ring: str | None) -> int:
    """Says in a line a ring whether it is healthy, how full it is, and how old its newest snapshot is."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    verdicts = [health.verdict(session, view) for view in look(session, rings(ring))]
    if as_json:
        out.document({"cluster": session.info.name, "rings": verdicts})
    else:
        for one in verdicts:
            out.console.print(line(one), soft_wrap=True)
    return FAILED if any(one["ails"] for one in verdicts) else DONE


def line(verdict: dict[str, Any]) -> Text:
    state = Text("; ".join(verdict["ails"]), style="red") if verdict["ails"] else Text("healthy", style="green")
    at = verdict["newest_snapshot"]
    saved = f"newest snapshot {old(at)} old" if at else "no snapshot"
    style = "" if at and not snapshot_age.late(verdict["ring"], at) else "yellow"
    full = f", {verdict['full']:.1%} of its quota" if verdict["full"] is not None else ""
    lead = f", led by {verdict['leader']}" if verdict["leader"] else ""
    return Text.assemble((f"etcd {verdict['ring']}: ", "bold"), state, lead, full, ", ", (saved, style))


def copy_of(session: Session, one: backups.Backup) -> str:
    if not one.copy:
        return ""
    region, bucket = one.copy["region"], one.copy["bucket"]
    return f", with a copy in {region}: {session.cloud_at(region).bucket(bucket).where(one.copy['key'])}"


def store(session: Session) -> stores.Store:
    return session.bucket


@etcd.command()
@ring_option
@common
def backup(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, ring: str | None) -> int:
    """Puts a snapshot into the fleet bucket, now. Timers on the machines do the same all day."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    made = []
    for name in rings(ring):
        one = backups.backup(session.remote, session.info, store(session), name)
        made.append(one)
        out.console.print(
            f"etcd {name}: revision {one.revision}, {one.keys} keys, {size(one.bytes)}, from {one.member}: "
            f"{session.bucket.where(one.key)}{copy_of(session, one)}",
            soft_wrap=True,
        )
    if as_json:
        out.document(
            {
                "cluster": session.info.name,
                "bucket": session.info.bucket,
                "backups": [one.as_json() for one in made],
            }
        )
    return DONE


@etcd.command()
@ring_option
@common
def snapshots(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, ring: str | None) -> int:
    """Lists the snapshots in the fleet bucket, the oldest first, and tells the newest copy in the second region."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    found = {name: stores.scheduled(store(session), session.info.name, name) for name in rings(ring)}
    copied = [copy for name in rings(ring) if (copy := second_region_copies.newest(session, name))]
    if as_json:
        rows = [
            {**one._asdict(), "ring": name, "taken": stores.taken(one), "revision": stores.revision(one.key)}
            for name, listed in found.items()
            for one in listed
        ]
        newest = [copy._asdict() for copy in copied]
        out.document(
            {"cluster": session.info.name, "bucket": session.info.bucket, "snapshots": rows, "newest_copies": newest}
        )
        return DONE
    made = tables.plain_table("key", "age", "revision", "size", right=["revision", "size", "age"])
    for listed in found.values():
        for one in listed:
            at = stores.taken(one)
            made.add_row(one.key, old(at), str(stores.revision(one.key)), size(one.size))
    out.console.print(made)
    for copy in copied:
        out.console.print(copy.line(), soft_wrap=True)
    return DONE


@etcd.command()
@ring_option
@common
def defrag(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, ring: str | None) -> int:
    """Gives free space back, one member at a time, the leader last; refuses while something else ails."""
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    done = {}
    for name in rings(ring):
        out.console.print(f"etcd {name}:")
        done[name] = defrags.defrag(
            session.remote, session.info, name, lambda text: out.console.print(f"  {text}", soft_wrap=True)
        )
    if as_json:
        rows = [{"ring": name, **one.as_json()} for name, listed in done.items() for one in listed]
        out.document({"cluster": session.info.name, "defragmented": rows})
    return DONE


@etcd.command()
@click.argument("machine")
@ring_option
@common
@click.option("--force", is_flag=True, help="Though its member is alive: its data are moved aside.")
def replace(
    machine: str,
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    ring: str | None,
    force: bool,
) -> int:
    """Gives MACHINE, whose disk is lost, a new member in place of the old one.

    The others forget the old member; the new one begins empty as a learner and becomes a voter when it has all data.
    Without --ring: in every ring where its member is not alive.
    """
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    one = session.info.machines.get(machine)
    if one is None or one.role != "etcd":
        known = ", ".join(m.name for m in session.info.etcd)
        raise UsageError(f"{machine} is no etcd machine of {session.info.name}. These are: {known}.")
    wanted = [ring] if ring else [v.ring for v in look(session, RING) if force or not alive(v, machine)]
    for name in wanted:
        replaces.replace(session.remote, session.info, one, name, lambda text: tell(out, text), force=force)
    if as_json:
        out.document({"cluster": session.info.name, "machine": machine, "rings": wanted})
    elif not wanted:
        out.console.print(f"Nothing to do: both members of {machine} are alive.")
    return DONE


def alive(view: View, machine: str) -> bool:
    member = view.member(machine)
    return member is not None and member.answers and not member.learner


def tell(out: Output, text: str) -> None:
    out.progress.print(text, markup=False, soft_wrap=True)


@etcd.command()
@the_ring_option
@common
@click.option("--from", "source", metavar="KEY|FILE|newest", help="A snapshot: its key in the bucket, or a file here.")
@click.option("--survivor", metavar="MACHINE|newest", help="What is left on an etcd machine's disk, instead.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def restore(
    *,
    cluster: str | None,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    ring: str,
    source: str | None,
    survivor: str | None,
    yes: bool,
) -> int:
    """Takes a ring back to a snapshot, or to what is left on a disk. The API is away meanwhile.

    Every member begins anew from the same data, with revisions raised so that nobody takes them for the present; the
    old data stay beside. All scale-down is frozen until you release it. Newer writes are lost: it says up to when.
    """
    if (source is None) == (survivor is None):
        raise click.UsageError("Say where from: --from newest, --from KEY, --from FILE, or --survivor newest.")
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    done = restored(session, store(session), ring, source, survivor, out, yes=yes)
    if as_json:
        out.document({"cluster": session.info.name, **done})
    return DONE
