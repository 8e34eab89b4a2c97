"""Why a machine is no Ready node: what it says itself, else what the cluster says of it."""

import re
from collections.abc import Sequence

from components.pools.joining import SERVICE as JOINING
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import RemoteExecutionError
from landbridge.site import nodes
from landbridge.site.nodes import Node

from .session import Session

# So long people are content to know what is waited for; then they are told why it does not come.
AFTER_SECONDS = 20.0
ASK_SECONDS = 15.0
SIGNS = 200
KUBELET, API = "kubelet.service", "kube-apiserver.service"
# Of a cloud that the joining service asks in vain (components/pools/on_machine/instances.py).
INSTANCES, UNTOLD = "its instances", "does not tell"
# The units' states, the end of the boot's log, and the unit's last words: of the file that machines of the local cloud
# have for each unit, or of a real machine's journal.
SCRIPT = """\
systemctl is-active containerd.service "$1"
echo ---
tail -n 1 /var/log/landbridge-boot.log 2>/dev/null
echo ---
tail -n 60 "/var/log/units/$1.log" 2>/dev/null || journalctl --quiet --no-pager --output=cat --lines=60 --unit="$1"
true
"""
BOOTED = "boot: done"
TROUBLE = re.compile(
    r"error|fail|tries again|refus|unable|unauthori[sz]ed|forbidden|denied|timed? ?out|no route|expired|not ready",
    re.IGNORECASE,
)
# What a kubelet says, in Go's words and in those of the local cloud's → what that is. The first that fits counts.
CAUSES = (
    (
        re.compile(
            r"certificate_verify_failed|certificate verify failed|unknown authority|local issuer", re.IGNORECASE
        ),
        "can't verify the API server's certificate: the authority that it trusts has not signed it",
    ),
    (
        re.compile(r"certificate has expired|expired certificate", re.IGNORECASE),
        "meets an expired certificate, or has one",
    ),
    (re.compile(r"unauthori[sz]ed|\b401\b", re.IGNORECASE), "shows a credential that the API server does not take"),
    (re.compile(r"connection refused", re.IGNORECASE), "is refused by the API server's address"),
    (re.compile(r"no route to host|network is unreachable", re.IGNORECASE), "has no route to the API server"),
    (re.compile(r"name or service not known|no such host|name resolution", re.IGNORECASE), "can't resolve a name"),
    (re.compile(r"timed? ?out|deadline exceeded", re.IGNORECASE), "gets no answer in time"),
)


def not_ready(session: Session, machine: str, node: Node | None) -> str:
    """One reason in words; empty where nothing can be told: machines of pools on real clouds let nobody in."""
    message = reported(node)
    if node is not None and message and nodes.condition(node, "Ready") == "False":
        return message
    return of_unit(session, machine, KUBELET) or undecided(session, machine) or message


def undecided(session: Session, machine: str) -> str:
    """That its request for a certificate waits, and what the service that decides on it waits for itself."""
    try:
        found = session.admin.get("certificatesigningrequests")["items"]
    except LandbridgeError:
        return ""
    names = [one["spec"]["username"].split(":") for one in found if not one.get("status", {}).get("conditions")]
    if not (mine := [name for name in names if name[-1] == machine]):
        return ""
    pool = session.world.fleet.pools.get(mine[0][-2])
    where = f" in {pool.region} " if pool else " in "
    for one in (name for name, spec in session.info.machines.items() if spec.role == "api"):
        words = unit_report(session, one, JOINING)[2].splitlines()
        lines = [line for line in words if where in line and INSTANCES in line]
        if lines and UNTOLD in lines[-1]:
            return f"its request for a certificate waits: {short(lines[-1])}"
    return "its request for a certificate waits"


def of_unit(session: Session, machine: str, unit: str) -> str:
    """What the machine itself says of a unit that does not do its work; empty where it can't be asked."""
    states, boot, words = unit_report(session, machine, unit)
    return reason(unit, states.split(), boot, words.splitlines())


def unit_report(session: Session, machine: str, unit: str) -> tuple[str, str, str]:
    """The three parts of what SCRIPT prints there; empty where the machine can't be asked."""
    try:
        result = session.remote.run(machine, ["sh", "-c", SCRIPT, "sh", unit], timeout_seconds=ASK_SECONDS)
    except RemoteExecutionError:
        return "", "", ""
    states, boot, words = (part.strip() for part in f"{result.out}\n---\n---\n".split("---\n", 3)[:3])
    return states, boot, words


def reason(unit: str, states: Sequence[str], boot: str, words: Sequence[str]) -> str:
    """Of the states of containerd and the unit, the boot's last line, and the unit's last lines."""
    if boot and BOOTED not in boot:
        return f"its boot stands at: {short(boot)}"
    troubles = [line for line in words if TROUBLE.search(line) or cause(line)]
    meant = meaning(unit, troubles[-1]) if troubles else ""
    for name, state in zip(("containerd", unit.removesuffix(".service")), states, strict=False):
        if state not in ("active", "activating"):
            return f"its unit {name} is {state}{f': {meant}' if meant and name != 'containerd' else ''}"
    return meant


def meaning(unit: str, line: str) -> str:
    return f"its {unit.removesuffix('.service')} {cause(line) or f'says: {short(line)}'}"


def cause(line: str) -> str:
    return next((text for pattern, text in CAUSES if pattern.search(line)), "")


def reported(node: Node | None) -> str:
    """What the cluster says of the node's state."""
    if node is None:
        return ""
    found = next((one for one in node.get("status", {}).get("conditions", ()) if one["type"] == "Ready"), None)
    message = str((found or {}).get("message", ""))
    return f"the cluster says of it: {short(message)}" if message else ""


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SIGNS else f"{line[: SIGNS - 1]}…"
