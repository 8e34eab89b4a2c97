"""Drills that lose one member: its process, its machine, its disk. Two of three go on, and nobody may notice."""

import time

from landbridge.etcd.replace import replace

from .bench import Bench, DrillError, Outcome, killing
from .writer import Refused

SERVER_SECONDS = 15.0


def leader_killed(bench: Bench) -> Outcome:
    """The leader of etcd main dies at a blow; another leads, and its unit brings it back."""
    leader = bench.leader("main")
    bench.tell(f"kill -9 of etcd main on {leader.name}, which leads")
    begun = time.monotonic()
    bench.kill(leader.name, "main")
    bench.writes(1)
    writing = time.monotonic() - begun
    bench.healthy("main")
    seconds = time.monotonic() - begun
    back = bench.look("main").member(leader.name)
    if back is None or back.id != leader.id:
        raise DrillError(f"{leader.name} is not the member {leader.id} any more")
    facts = {"killed": leader.name, "leads": bench.leader("main").name, "writes_again": writing}
    # Two seconds of absence hide much: each in turn now stays away until every API server has shown that it can do so.
    for name in bench.etcd:
        spared(bench, name)
    bench.tell(f"each API server has taken writes without {', without '.join(bench.etcd)}")
    return Outcome(seconds, facts)


def spared(bench: Bench, name: str) -> None:
    """Raises DrillError unless every API server takes writes while this member is down."""
    unit = "etcd-main.service"
    bench.steps.sh(name, "holding etcd main down", f"{killing('main')}; systemctl stop {unit}")
    try:
        for server in bench.info.api:
            try:
                bench.writer.at(server.address, f"{server.name}-without-{name}", SERVER_SECONDS)
            except Refused as error:
                raise DrillError(f"{server.name} takes no writes without the etcd of {name}: {error}") from None
    finally:
        bench.steps.start(name, unit)
        bench.healthy("main")


def machine_terminated(bench: Bench) -> Outcome:
    """An etcd machine is terminated; its successor takes its address and its disks and is the same member again."""
    before = {ring: bench.look(ring) for ring in ("main", "events")}
    name = bench.leader("main").name
    begun = time.monotonic()
    old = bench.terminate(name)
    bench.tell(f"terminated {old} ({name})")
    new = bench.successor(name, old)
    for ring, view in before.items():
        bench.healthy(ring)
        was, now = view.member(name), bench.look(ring).member(name)
        if was is None or now is None or was.id != now.id:
            raise DrillError(f"{name} came back to etcd {ring} as another member: without the data of its disk")
    bench.writes(1)
    return Outcome(time.monotonic() - begun, {"machine": name, "old": old, "new": new, "same_members": True})


def volume_lost(bench: Bench) -> Outcome:
    """A member's disk is empty; `etcd replace` removes it and adds it again."""
    lost = bench.follower("main")
    begun = time.monotonic()
    bench.lose([lost.name], "main")
    bench.tell(f"the disk of etcd main on {lost.name} is empty")
    replace(bench.session.remote, bench.info, bench.info.machines[lost.name], "main", bench.tell)
    bench.healthy("main")
    bench.writes(1)
    seconds = time.monotonic() - begun
    new = bench.look("main").member(lost.name)
    if new is None or new.id == lost.id or new.learner:
        raise DrillError(f"{lost.name} is no new voter")
    # That it votes is seen when it has to: two of three, one of them new.
    other = next(member for member in bench.look("main").members if member.name != lost.name)
    bench.kill(other.name, "main")
    bench.writes(3)
    bench.healthy("main")
    return Outcome(seconds, {"machine": lost.name, "old_member": lost.id, "new_member": new.id})
