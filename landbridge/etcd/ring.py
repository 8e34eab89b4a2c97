"""An etcd ring as its members tell it: who is there, who leads, how full and how far each one is."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from components.control_plane.etcd import RINGS
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import CommandResult, RemoteExecution, RemoteExecutionError

RING = {ring.name: ring for ring in RINGS}
PKI = "/etc/etcd/pki"
CREDENTIAL = (f"--cacert={PKI}/clients-ca.crt", f"--cert={PKI}/operator.crt", f"--key={PKI}/operator.key")
# A follower this many entries behind its leader is still catching up.
CLOSE = 1_000
FULL = 0.75


class EtcdError(LandbridgeError):
    """A ring did not answer or refused."""


@dataclass(frozen=True)
class Member:
    """One member; all but its name is unknown (None, empty) when it does not answer. `id` is hexadecimal."""

    name: str
    id: str
    learner: bool = False
    answers: bool = False
    version: str = ""
    leader: bool = False
    db_bytes: int | None = None
    in_use_bytes: int | None = None
    quota_bytes: int | None = None
    raft_index: int | None = None
    applied: int | None = None
    revision: int | None = None
    errors: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()


@dataclass
class View:
    """One ring. `queried` is the machine that answered; a ring without one has no members here and says `why`."""

    ring: str
    members: list[Member] = field(default_factory=list)
    queried: str = ""
    why: str = ""

    @property
    def leader(self) -> Member | None:
        return next((member for member in self.members if member.leader), None)

    @property
    def quorum(self) -> bool:
        voters = [member for member in self.members if not member.learner]
        return self.leader is not None and 2 * sum(member.answers for member in voters) > len(voters)

    def member(self, name: str) -> Member | None:
        return next((member for member in self.members if member.name == name), None)

    def lag(self, member: Member) -> int | None:
        """How many entries a member is behind the leader."""
        if self.leader is None or member.applied is None or self.leader.raft_index is None:
            return None
        return max(0, self.leader.raft_index - member.applied)

    def ails(self, machines: Sequence[MachineInfo]) -> list[str]:
        """What is wrong, in words; empty for a healthy ring with exactly these machines as members."""
        if not self.members:
            return [self.why or "no member answers"]
        found = [] if self.quorum else ["it has no quorum: nothing can be written"]
        names = {member.name for member in self.members}
        found += [f"{machine.name} is no member" for machine in machines if machine.name not in names]
        known = {machine.name for machine in machines}
        found += [
            f"member {member.name or member.id} is no machine of the cluster"
            for member in self.members
            if member.name not in known
        ]
        for member in self.members:
            found += self.member_ails(member)
        return found

    def member_ails(self, member: Member) -> list[str]:
        if not member.answers:
            return [f"{member.name} does not answer"]
        lag = self.lag(member)
        found = [f"{member.name} is a learner"] if member.learner else []
        found += [f"{member.name} is {lag} entries behind"] if lag is not None and lag > CLOSE else []
        return found + [f"{member.name}: {problem}" for problem in (*member.alarms, *member.errors)]

    def as_json(self) -> dict[str, Any]:
        return {"ring": self.ring, "quorum": self.quorum, "why": self.why, "members": [asdict(m) for m in self.members]}


class Ctl:
    """etcdctl on a cluster's machines, each against its own member."""

    def __init__(self, remote: RemoteExecution, info: ClusterInfo) -> None:
        self.remote, self.info = remote, info

    def say(self, machine: str, ring: str, *words: str, seconds: float = 10) -> CommandResult:
        here = f"--endpoints=https://127.0.0.1:{RING[ring].client_port}"
        limits = [f"--command-timeout={seconds:.0f}s", "--dial-timeout=2s", "--write-out=json"]
        argv = ["/usr/local/bin/etcdctl", here, *CREDENTIAL, *limits, *words]
        return self.remote.run(machine, argv, timeout_seconds=seconds * 3 + 10)

    def call(self, machine: str, ring: str, *words: str, seconds: float = 10) -> dict[str, Any]:
        """Raises EtcdError and RemoteExecutionError."""
        result = self.say(machine, ring, *words, seconds=seconds)
        if result.code != 0:
            raise EtcdError(f"etcd {ring} on {machine} refused `{' '.join(words)}`: {complaint(result)}")
        text = result.out.strip()
        return dict(json.loads(text)) if text.startswith("{") else {}

    def look(self, ring: str) -> View:
        """Asks all machines at once, and takes the first that answers for the whole ring."""
        reasons = []
        with ThreadPoolExecutor(max(1, len(self.info.etcd))) as threads:
            answers = threads.map(lambda machine: self._listed(machine.name, ring), self.info.etcd)
            for machine, listed in zip(self.info.etcd, list(answers), strict=True):
                if isinstance(listed, RemoteExecutionError) or listed.code != 0:
                    reasons.append(
                        str(listed)
                        if isinstance(listed, RemoteExecutionError)
                        else f"{machine.name}: {complaint(listed)}"
                    )
                    continue
                say = partial(self.say, machine.name, ring, seconds=3)
                status, alarms = (
                    threads.submit(say, "endpoint", "status", "--cluster"),
                    threads.submit(say, "alarm", "list"),
                )
                try:
                    return view(ring, machine.name, listed.out, status.result().out, alarms.result().out)
                except RemoteExecutionError as error:
                    reasons.append(str(error))
        return View(ring, why="; ".join(reasons) or "the cluster has no etcd machines")

    def _listed(self, machine: str, ring: str) -> CommandResult | RemoteExecutionError:
        try:
            return self.say(machine, ring, "member", "list", "--consistency=s", seconds=3)
        except RemoteExecutionError as error:
            return error


def view(ring: str, queried: str, listed: str, status: str, alarms: str) -> View:
    """What etcdctl's JSON says. Members that do not answer are not in `status`; alarms need a quorum to be asked."""
    statuses = {one["Status"]["header"]["member_id"]: one["Status"] for one in parsed(status) or ()}
    raised: dict[int, list[str]] = {}
    for alarm in (parsed(alarms) or {}).get("alarms", ()):
        # Its memberID is 0 for an alarm of the whole ring.
        raised.setdefault(alarm.get("memberID", 0), []).append(ALARMS.get(alarm["alarm"], f"alarm {alarm['alarm']}"))
    members = []
    for one in json.loads(listed)["members"]:
        number = one["ID"]
        known = statuses.get(number)
        member = Member(one.get("name") or named(one), f"{number:x}", bool(one.get("isLearner")))
        if known:
            member = Member(
                member.name,
                member.id,
                member.learner,
                answers=True,
                version=known.get("version", ""),
                leader=known.get("leader") == number,
                db_bytes=known.get("dbSize"),
                in_use_bytes=known.get("dbSizeInUse"),
                quota_bytes=known.get("dbSizeQuota"),
                raft_index=known.get("raftIndex"),
                applied=known.get("raftAppliedIndex"),
                revision=known["header"].get("revision"),
                errors=tuple(e for e in known.get("errors") or () if "alarm" not in e and "memberID" not in e),
                alarms=tuple(raised.get(number, ())),
            )
        members.append(member)
    return View(ring, sorted(members, key=lambda member: member.name), queried)


# etcd's AlarmType. NOSPACE: the quota is reached, and the ring takes no writes until it is disarmed.
ALARMS = {1: "NOSPACE: its quota is full", 2: "CORRUPT: its data differ from the others'"}


def named(member: dict[str, Any]) -> str:
    """The name of a member that was added and has never started: its peer address has it."""
    host = next(iter(member.get("peerURLs", ())), "").rpartition("//")[2]
    return str(host.partition(".")[0])


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def complaint(result: CommandResult) -> str:
    """etcdctl's own words without its log lines' clutter."""
    record = parsed(result.why)
    if isinstance(record, dict):
        return str(record.get("error") or record.get("msg") or result.why)
    return result.why.removeprefix("Error: ")
