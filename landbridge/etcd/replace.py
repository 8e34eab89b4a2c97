"""A member whose disk is lost: the others forget it, and it joins them again as if new, under its old name."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.remote_execution import RemoteExecution
from landbridge.waiting import NotYet, until

from .machine_steps import MachineSteps
from .ring import RING, Ctl, EtcdError, Member, View

JOIN_SECONDS = 300.0


def replace(
    remote: RemoteExecution,
    info: ClusterInfo,
    machine: MachineInfo,
    ring: str,
    tell: Callable[[str], None],
    *,
    force: bool = False,
) -> None:
    """Removes a machine's member and adds it again, empty. Raises EtcdError when the others have no quorum without it.

    First as a learner: it counts for no majority until it has all data.
    """
    ctl, steps = Ctl(remote, info), MachineSteps(remote)
    view = ctl.look(ring)
    other = check(view, info, machine, force=force)
    aside(steps, machine.name, ring, tell)
    if old := view.member(machine.name):
        ctl.call(other, ring, "member", "remove", old.id)
        tell(f"etcd {ring}: {machine.name} is removed")
    peer = f"https://{machine.host}:{RING[ring].peer_port}"
    ctl.call(other, ring, "member", "add", machine.name, f"--peer-urls={peer}", "--learner")
    config = f"/etc/etcd/{ring}.json"
    text = steps.do(machine.name, f"reading {config}", "cat", config)
    try:
        write(steps, machine.name, config, joining(text))
        steps.start(machine.name, f"etcd-{ring}.service")
        promote(ctl, other, machine.name, ring, tell)
    finally:
        # With data in its folder etcd does not look at this any more; the bundle's own text is what belongs here.
        write(steps, machine.name, config, text)


def check(view: View, info: ClusterInfo, machine: MachineInfo, *, force: bool) -> str:
    """The machine through which to work. Raises EtcdError."""
    ring, name = view.ring, machine.name
    others = [member for member in view.members if member.name != name]
    alive = [member for member in others if member.answers and not member.learner]
    known = {one.name for one in info.etcd if one.name != name}
    if not alive or view.leader is None or len(alive) < len(known) // 2 + 1:
        raise EtcdError(
            f"etcd {ring}: without {name} only {len(alive)} of {len(known)} others answer. Bring them back first; if "
            "their disks are lost, see the runbook etcd-quorum-lost."
        )
    if missing := known - {member.name for member in alive}:
        raise EtcdError(
            f"etcd {ring}: {', '.join(sorted(missing))} is not healthy either. To remove {name} now would leave no "
            "member to spare: bring that one back first."
        )
    found = view.member(name)
    if found and found.answers and not found.learner and not force:
        raise EtcdError(
            f"etcd {ring}: the member of {name} is alive: nothing of it is lost. To empty it all the same: --force."
        )
    return sorted(alive, key=lambda member: member.name)[0].name


def aside(steps: MachineSteps, machine: str, ring: str, tell: Callable[[str], None]) -> None:
    """Stops the member and moves what its folder holds out of the way."""
    steps.stop(machine, f"etcd-{ring}.service")
    previous_data = f"data.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    path = f"/var/lib/etcd/{ring}"
    steps.start(machine, f"var-lib-etcd-{ring}.mount")
    mounted(steps, machine, ring)
    if steps.exists(machine, f"{path}/data"):
        steps.sh(machine, "moving the old data aside", f"mv {path}/data {path}/{previous_data}")
        tell(f"{machine}: the old data of etcd {ring} are kept in {path}/{previous_data}")


def mounted(steps: MachineSteps, machine: str, ring: str, seconds: float = 60) -> None:
    """Without its disk a member would begin on the root disk."""
    late = EtcdError(
        f"{machine}: the disk of etcd {ring} is not mounted. Is its volume there and attached? "
        f"`landbridge up` makes a volume that is gone anew; then look at `landbridge-disks.service` there."
    )
    until(lambda: steps.active(machine, f"var-lib-etcd-{ring}.mount"), seconds, 1, lambda _: late)


def joining(config: str) -> str:
    return json.dumps({**json.loads(config), "initial-cluster-state": "existing"}, indent=2, sort_keys=True) + "\n"


def write(steps: MachineSteps, machine: str, path: str, text: str) -> None:
    script = f"umask 022; cat > {path}.new && mv {path}.new {path}"
    steps.do(machine, f"writing {path}", "sh", "-ec", script, stdin=text.encode())


def promote(ctl: Ctl, other: str, name: str, ring: str, tell: Callable[[str], None]) -> None:
    """Makes the learner a voter as soon as it has the leader's data."""

    def promoted() -> bool:
        view = ctl.look(ring)
        member: Member | None = view.member(name)
        if not (member and member.answers):
            raise NotYet("it does not answer")
        if member.learner:
            leader = view.leader.name if view.leader else other
            raise NotYet(ctl.say(leader, ring, "member", "promote", member.id).why)
        tell(f"etcd {ring}: {name} is a member again, {view.lag(member) or 0} entries behind")
        return True

    def late(why: str) -> EtcdError:
        return EtcdError(
            f"etcd {ring}: {name} did not catch up within {JOIN_SECONDS:.0f} s ({why}). It is a learner and counts for "
            f"no majority. Its log: unit etcd-{ring} on {name}. Running the command again begins anew."
        )

    until(promoted, JOIN_SECONDS, 0.5, late)
