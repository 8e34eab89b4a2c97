"""Clusters: their API, both etcd rings with their snapshots, their pools' machines, and their certificates."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from landbridge.cluster.info import deployment
from landbridge.cluster.session import Session
from landbridge.cluster.why import short
from landbridge.etcd import health
from landbridge.etcd.ring import Ctl
from landbridge.pki import certificates as pki
from landbridge.pki.certificates import Row
from landbridge.pki.diagnosis import diagnose
from landbridge.pool import listing
from landbridge.remote_execution import RemoteExecutionError

from .finding import Finding, Severity
from .subject import Patient

API_SECONDS = 6.0


def api(patient: Patient, session: Session) -> Iterator[Finding]:
    name = session.info.name
    area = f"cluster {name}"
    result = session.admin.run("get", "--raw", "/readyz")
    if result.code != 0:
        why = diagnose(result.err) or refusal(result.why)
        yield Finding(area, "broken", f"its API does not answer: {why}", patient.command(f"cluster status {name}"))
    for machine in session.info.api:
        try:
            here = session.remote.run(machine.name, LIVES, timeout_seconds=API_SECONDS)
        except RemoteExecutionError as error:
            text = f"API server {machine.name} can't be reached: {error}"
        else:
            if here.code == 0:
                continue
            text = f"API server {machine.name} does not answer there"
        yield Finding(area, "ailing", text, patient.command(f"cluster status {name}"))


def refusal(message: str) -> str:
    """Of /readyz, which lists all its checks, those that failed; else what was said, in a line."""
    failed = re.findall(r"\[-\](\S+) failed", message)
    return f"not ready: {', '.join(dict.fromkeys(failed))} failed" if failed else short(message)


# Asked on the machine itself, past every balancer; /livez is open to all (the API server's default).
LIVES = ["curl", "--silent", "--fail", "--insecure", "--max-time", "4", "https://127.0.0.1:6443/livez"]


def etcd(patient: Patient, session: Session, ring: str) -> Iterator[Finding]:
    name, view = session.info.name, Ctl(session.remote, session.info).look(ring)
    severity: Severity = "ailing" if view.quorum else "broken"
    status = patient.command(f"etcd status --cluster {name}")
    for ail in health.verdict(session, view)["ails"]:
        yield Finding(f"cluster {name}", severity, f"etcd {ring}: {ail}", status)


def pools(patient: Patient, session: Session) -> Iterator[Finding]:
    for state in listing.look(session):
        stands = state.desired is not None or state.running
        for trouble in state.trouble if stands else ():
            remedy = f"site status {state.place}" if state.site else f"pool list --cluster {session.info.name}"
            yield Finding(f"pool {state.pool}", "ailing", trouble, patient.command(remedy))


def certificates(patient: Patient, session: Session) -> Iterator[Finding]:
    """Out of the state: no secret is opened for that."""
    _, place = patient.known
    return certified(session.info.name, pki.rows(deployment(place, session.info.name)), datetime.now(UTC))


def certified(cluster: str, rows: list[Row], now: datetime) -> Iterator[Finding]:
    for row in pki.unsound(rows, now):
        verdict_, day = row.verdict(now), f"{row.ends:%Y-%m-%d}" if row.ends else ""
        state = {"expired": f"expired on {day}", "due": f"ends on {day}"}.get(verdict_, "can not be read")
        remedy = " ".join(pki.remedies(cluster, [row], now))
        severity: Severity = "soon" if verdict_ == "due" else "broken"
        yield Finding(f"cluster {cluster}", severity, f"certificate {row.name} {state}", remedy)
