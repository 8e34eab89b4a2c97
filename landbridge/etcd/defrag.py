"""Giving a ring's free space back, one member at a time: a defragmentation blocks its member."""

from collections.abc import Callable
from typing import Any, NamedTuple

from landbridge.cluster.info import ClusterInfo
from landbridge.remote_execution import RemoteExecution

from .ring import Ctl, EtcdError, Member, View

DEFRAG_SECONDS = 300.0
NOSPACE = "NOSPACE"


class Shrunk(NamedTuple):
    """One member's size before and after, in bytes."""

    member: str
    before: int
    after: int

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def defrag(remote: RemoteExecution, info: ClusterInfo, ring: str, tell: Callable[[str], None]) -> list[Shrunk]:
    """Followers first, the leader last. Raises EtcdError when the ring is not healthy, before or between."""
    ctl = Ctl(remote, info)
    view = healthy(ctl.look(ring), info)
    full = any(NOSPACE in alarm for member in view.members for alarm in member.alarms)
    if full:
        compact(ctl, view, tell)
    done = []
    for member in order(view):
        before = view.member(member.name)
        ctl.call(member.name, ring, "defrag", seconds=DEFRAG_SECONDS)
        view = healthy(ctl.look(ring), info)
        after = view.member(member.name)
        shrunk = Shrunk(member.name, (before and before.db_bytes) or 0, (after and after.db_bytes) or 0)
        tell(f"{member.name}: {shrunk.before:,} → {shrunk.after:,} bytes")
        done.append(shrunk)
    if full and still_full(view):
        raise EtcdError(
            f"etcd {ring} is at its quota even without old revisions: what fills it is alive. Find out what it is and "
            f"delete it; see the runbook etcd-quota-full. The alarm stays raised."
        )
    if full:
        ctl.call(view.queried, ring, "alarm", "disarm")
        tell("NOSPACE is over: the ring takes writes again")
    return done


def compact(ctl: Ctl, view: View, tell: Callable[[str], None]) -> None:
    """Drops old revisions: API servers do that by a write, which a full ring does not take."""
    revision = max(member.revision or 0 for member in view.members)
    ctl.call(view.queried, view.ring, "compaction", str(revision), "--physical", seconds=DEFRAG_SECONDS)
    tell(f"NOSPACE: all revisions before {revision} are dropped")


def order(view: View) -> list[Member]:
    return sorted(view.members, key=lambda member: (member.leader, member.name))


def still_full(view: View) -> bool:
    """Whether a member is at its quota even now: to let writes in would only raise the alarm again."""
    return any((m.db_bytes or 0) >= 0.95 * (m.quota_bytes or 1 << 62) for m in view.members)


def healthy(view: View, info: ClusterInfo) -> View:
    """The view itself. Raises EtcdError; a full quota is no reason not to defragment but the reason for it."""
    ails = [ail for ail in view.ails(info.etcd) if NOSPACE not in ail]
    if ails:
        raise EtcdError(
            f"etcd {view.ring} is not healthy, so no member is blocked now: {'; '.join(ails)}. "
            f"`landbridge etcd members --ring {view.ring}` shows more."
        )
    return view
