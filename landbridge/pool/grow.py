"""A pool grows: its scaling groups are asked for more, and its new machines become nodes."""

import time
from collections.abc import Mapping, Sequence

from landbridge.cluster.session import Session
from landbridge.cluster.waiting import READY_SECONDS, Tell, look
from landbridge.errors import LandbridgeError
from landbridge.site import nodes
from landbridge.site.nodes import Node

from . import groups as scaling
from . import usage
from .listing import named
from .sizes import Group

PAUSE = {"real": 5.0, "local": 1.0}


def ask(session: Session, pool: str, groups: Sequence[Group], desired: Mapping[str, int], tell: Tell) -> None:
    """Sets what differs, and asks anew for what failed.

    What one group is no longer asked for goes first: all together never exceed the pool's max. No machine ends by
    that: `desired` is never below those that live, and they are protected. Raises LandbridgeError.
    """
    changed = {one.name: (one.desired, desired[one.name]) for one in groups if one.desired != desired[one.name]}
    region = session.world.fleet.pools[pool].region
    assert region is not None
    for name, (before, after) in sorted(changed.items(), key=lambda one: one[1][1] - one[1][0]):
        scaling.set_desired(session, region, {name: after})
        tell(f"{name}: {after} machines, {before} before")
    # The same size once more is a new try at once: by itself AWS waits longer after each failure.
    for one in groups:
        if one.failure and one.name not in changed and len(one.live) < one.desired:
            scaling.set_desired(session, region, {one.name: one.desired})


def missing(groups: Sequence[Group], there: Mapping[str, Node], *, joins: bool) -> dict[str, str]:
    """Machine → why it is not at work yet. Of kind ssh none is a node, and in service is all there is."""
    found = {}
    for machine in (machine for group in groups for machine in group.live):
        if machine.state != "InService":
            found[machine.name] = machine.state
        elif joins and machine.name not in there:
            found[machine.name] = "has not joined"
        elif joins and not nodes.ready(there[machine.name]):
            found[machine.name] = "is not Ready"
    return found


def wait(session: Session, pool: str, number: int, tell: Tell, seconds: float | None = None) -> int:
    """Until `number` machines are at work; how many are. Raises LandbridgeError with those that did not come."""
    world, joins = session.place.world, session.world.fleet.pools[pool].kind != "ssh"
    patience = READY_SECONDS[world] if seconds is None else seconds
    deadline, shown = time.monotonic() + patience, ""
    what = "Ready nodes" if joins else "machines in service"
    while True:
        groups = scaling.of_pool(session, pool)
        lacking = missing(groups, usage.of_pool(session.admin, pool) if joins else {}, joins=joins)
        ready = sum(len(group.live) for group in groups) - len(lacking)
        if ready >= number:
            return ready
        refusals = [f"{group.name} launches none: {group.failure}" for group in groups if group.failure]
        text = "; ".join([f"{pool}: {ready} of {number} {what}", *waits(lacking), *refusals])
        if text != shown:
            tell(text)
            shown = text
        if time.monotonic() > deadline:
            everywhere = len(refusals) == len(groups)
            late = LandbridgeError(
                progress_text(session, pool, number, ready, lacking, refusals, patience, everywhere=everywhere)
            )
            late.document = {
                "cluster": session.info.name,
                "pool": pool,
                "number": number,
                "ready": ready,
                "missing": lacking,
                "failed_launches": {group.name: group.failure for group in groups if group.failure},
            }
            raise late
        time.sleep(PAUSE[world])


def waits(lacking: Mapping[str, str]) -> list[str]:
    """The machines by what they wait for."""
    reasons = sorted(set(lacking.values()))
    return [f"{why}: {named([one for one, reason in lacking.items() if reason == why])}" for why in reasons]


def progress_text(
    session: Session,
    pool: str,
    number: int,
    ready: int,
    lacking: Mapping[str, str],
    refusals: Sequence[str],
    seconds: float,
    *,
    everywhere: bool,
) -> str:
    lines = [f"After {seconds:.0f} s {pool} has {ready} of {number} machines at work. The size stays as it was set."]
    lines += [f"  {machine} {why}" for machine, why in sorted(lacking.items())]
    if lacking:
        lines.append(
            f"{look(session.place)} shows how a machine's boot went, `landbridge kubectl get nodes` who joined."
        )
    lines += [f"  {refusal}" for refusal in refusals]
    if refusals:
        again = f"`landbridge pool size {pool} {number}{session.place.options}`"
        lines.append(
            f"None of its groups launches any now. {again} asks again later; `landbridge pool list` shows other pools."
            if everywhere
            else f"Run {again} again: what one group can't launch is asked of the pool's others."
        )
    return "\n".join(lines)
