"""The drills in their order, each between a healthy cluster and a healthy cluster, and what came of them."""

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from landbridge.cluster import kubeconfig
from landbridge.cluster.kubeconfig import Credential
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.etcd.ring import RING

from . import events, members, quota, restores, rolling, tested, total_loss, trust
from .bench import Bench, DrillError, Outcome, Tell
from .cleanup import NAMESPACE, clear
from .marker import Mark
from .writer import Write, Writer

BEFORE, AFTER = 15, 10  # writes
HEALTHY_SECONDS = 60.0


class Drill(NamedTuple):
    """`loses`: whether acknowledged writes may be lost: those that a restore cannot have."""

    name: str
    what: str
    run: Callable[[Bench], Outcome]
    loses: bool = False


DRILLS = {
    drill.name: drill
    for drill in (
        Drill("leader-killed", "etcd main's leader is killed", members.leader_killed),
        Drill("machine-terminated", "an etcd machine is terminated", members.machine_terminated),
        Drill("volume-lost", "a member loses its disk", members.volume_lost),
        Drill("certificate-expired", "a client's certificate has expired", trust.certificate_expired),
        Drill("events-lost", "all of etcd events is lost", events.events_lost),
        Drill("quota-filled", "etcd main reaches its quota", quota.quota_filled),
        Drill("bundle-tampered", "a machine's bundle is changed in the bucket", trust.bundle_tampered),
        Drill("rolled", "every machine is replaced", rolling.rolled),
        Drill("quorum-lost", "two of three disks are lost", restores.quorum_lost, loses=True),
        Drill("everything-lost", "all machines and disks are lost", total_loss.total_loss, loses=True),
    )
}


@dataclass
class Result:
    """One drill. `waited` is the longest that a write took, with all its tries; `problem` is empty if all held."""

    drill: str
    seconds: float = 0.0
    acknowledged: int = 0
    failed: int = 0
    retries: int = 0
    waited: float = 0.0
    lost: int = 0
    gap: str = ""
    problem: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def run(session: Session, names: Iterable[str], tell: Tell) -> list[Result]:
    """Stops after a drill that leaves its cluster ailing: what would follow would be no news.

    Raises LandbridgeError when another drill has not ended. Interrupted, it puts right what it has broken.
    """
    mark = Mark(session)
    mark.free()
    credential = kubeconfig.admin(session.cloud, session.info)
    namespace = f"{NAMESPACE}{secrets.token_hex(3)}"
    results: list[Result] = []
    try:
        api_request(session, credential, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        for name in names:
            drill = DRILLS[name]
            tell(f"{name}: {drill.what}")
            mark.begin(name, namespace)
            writer = Writer(session.info, credential, namespace, name)
            bench = Bench(session, writer, mark, lambda line: tell(f"  {line}"))
            results.append(one(drill, bench))
            tell(summary(results[-1]))
            if results[-1].problem and not whole(bench):
                tell("  the cluster stays as it is now; `landbridge drill --clear` puts right what the drill left")
                return results
            mark.end()
            facts = results[-1].facts
            if facts.get("snapshot") and not results[-1].problem:
                key = tested.keep(session.bucket, session.info.name, name, facts["snapshot"], datetime.now(UTC))
                bench.tell(f"kept, for monitoring: {session.bucket.where(key)}")
                facts["kept"] = key
        if not any(result.problem for result in results):
            api_request(session, credential, "DELETE", f"/api/v1/namespaces/{namespace}")
    except KeyboardInterrupt:
        tell("interrupted; should this be, too, `landbridge drill --clear` does it later")
        clear(session, mark, tell)
        raise
    return results


def api_request(session: Session, credential: Credential, method: str, path: str, body: object = None) -> None:
    Writer(session.info, credential, "", "").ask(method, path, body)


def whole(bench: Bench) -> bool:
    """Whether both rings are well, or will be in a while, and main is what it was."""
    if bench.mark.content.get("restore"):
        return False
    try:
        for ring in RING:
            bench.healthy(ring, HEALTHY_SECONDS)
    except LandbridgeError as error:
        bench.tell(str(error))
        return False
    return True


def one(drill: Drill, bench: Bench) -> Result:
    """One drill with its writer."""
    result, writer, outcome = Result(drill.name), bench.writer, Outcome(0.0)
    begun = time.monotonic()
    writer.start()
    try:
        for ring in RING:
            bench.healthy(ring, HEALTHY_SECONDS)
        bench.writes(BEFORE, HEALTHY_SECONDS)
        outcome = drill.run(bench)
        bench.writes(AFTER)
        writer.stop()
        present = writer.present()
        settle(drill, result, outcome, writer.acknowledged, present)
    except LandbridgeError as error:
        result.problem = str(error)
    finally:
        writer.stop()
    acknowledged = list(writer.acknowledged)
    result.seconds, result.facts = round(outcome.seconds, 1), outcome.facts
    result.acknowledged, result.failed, result.retries = len(acknowledged), len(writer.failed), writer.retries
    result.waited = round(max((one.waited for one in acknowledged), default=0.0), 1)
    result.facts["took_seconds"] = round(time.monotonic() - begun, 1)
    if writer.failed and not result.problem:
        result.problem = f"{len(writer.failed)} writes failed after all their retries"
    return result


def settle(drill: Drill, result: Result, outcome: Outcome, acknowledged: list[Write], present: set[int]) -> None:
    """Compares what was acknowledged with what is there. Raises DrillError."""
    lost = sorted((one for one in acknowledged if one.number not in present), key=lambda one: one.revision)
    result.lost = len(lost)
    if not drill.loses:
        if lost:
            raise DrillError(f"{len(lost)} acknowledged writes are lost: {gap(lost)}")
        return
    if outcome.revision is None:
        raise DrillError("the restore told no revision")
    expected = {one.number for one in acknowledged if outcome.revision < one.revision <= outcome.goes_on}
    found = {one.number for one in lost}
    result.gap = gap(lost) if lost else "nothing"
    if older := [one for one in lost if one.number not in expected]:
        raise DrillError(f"writes that revision {outcome.revision} has are lost: {gap(older)}")
    if expected - found:
        raise DrillError(f"writes after revision {outcome.revision} are there, which no restore can have brought back")
    if not lost:
        raise DrillError("nothing is lost: the drill has not done what it should")


def gap(lost: list[Write]) -> str:
    """Which writes, exactly."""
    numbers = sorted(one.number for one in lost)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    first, last = (datetime.fromtimestamp(pick(one.at for one in lost), UTC) for pick in (min, max))
    return (
        f"{len(lost)} writes (numbers {words}; revisions {lost[0].revision} to {lost[-1].revision}), acknowledged "
        f"{first:%H:%M:%S.%f} to {last:%H:%M:%S.%f} UTC"
    )


def summary(result: Result) -> str:
    if result.problem:
        return f"  FAILED: {result.problem}"
    lost = f"lost {result.gap}" if result.gap else "nothing lost"
    return (
        f"  recovered in {result.seconds:.1f} s; {result.acknowledged} writes acknowledged, {lost}; the longest took "
        f"{result.waited:.1f} s"
    )
