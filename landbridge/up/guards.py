"""What a previewed run must not do at once, whatever the limits: policies can't see it, since they know no old state.

The rest of the blast radius is a matter of consent (`consent`); this is refused unless a rule is ignored by name.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from components.addons import queues
from components.control_plane.pki import AUTHORITIES, SERVICE_ACCOUNTS
from fleet import laptops, logins, maintenance_holds
from landbridge.engine.stack_report import Step

MACHINES, KEYS, TUNNELS, LAPTOPS, SSH, RUNS = "machines", "keys", "tunnels", "laptops", "ssh", "runs"
RULES = (MACHINES, KEYS, TUNNELS, LAPTOPS, SSH, RUNS)
MACHINE = "landbridge:machine"
GONE = {"replaced": "replaces", "deleted": "deletes"}
# Part of a machine → what may be changed in it without touching the machine. A new template is taken by a roll alone.
PARTS = {
    "aws:ebs/volume:Volume": {"tags", "tagsAll"},
    "aws:ec2/networkInterface:NetworkInterface": {"tags", "tagsAll", "description"},
    "aws:autoscaling/group:Group": {"tags", "waitForCapacityTimeout"},
}
TEMPLATES = {"aws:ec2/launchTemplate:LaunchTemplate"}
TEAM_QUEUE = f"kubernetes:{queues.API}:ClusterQueue"
CONNECTION = "aws:ec2/vpnConnection:VpnConnection"
# What may be changed of a connection while both its tunnels carry on; what is named after a tunnel renews that alone.
UNFELT = {"tags", "tagsAll"}
OF_TUNNEL = re.compile(r"tunnel([12])[A-Z]")
# What the cluster's trust hangs on, each generation by its number; certificates of machines are none.
TRUST_ROOTS = {
    "tls:index/privateKey:PrivateKey",
    "tls:index/selfSignedCert:SelfSignedCert",
    "random:index/randomBytes:RandomBytes",
}
KEY_NAME = re.compile(rf"(?:{'|'.join((*AUTHORITIES, SERVICE_ACCOUNTS, 'encryption'))})-\d+|manifests")

# The same for a region's laptops.
OF_LAPTOPS = {laptops.PLACE, laptops.WRAPPING, laptops.SIGNING}
# And for SSH by certificates: what a key is, and what comes of its end.
OF_SSH = {
    logins.PLACE: "the authority for people's certificates by SSH, and machines that have no bundle without it let "
    "nobody in then",
    logins.HOSTS: "the authority that vouches for its machines to people's SSH clients, which refuse them until they "
    "have its successor by `landbridge ssh hosts`",
}


def refusals(stacks: Mapping[str, Iterable[Step]], ignored: Collection[str] = ()) -> list[str]:
    """Why the run must not be; empty when it may. `ignored` are names of rules."""
    judges = {MACHINES: _machines, KEYS: _keys, TUNNELS: _tunnels, LAPTOPS: _laptops, SSH: _ssh, RUNS: _runs}
    return [
        why
        for stack, steps in stacks.items()
        for rule in RULES
        if rule not in ignored
        for why in judges[rule](stack, list(steps))
    ]


def _machines(stack: str, steps: list[Step]) -> Iterator[str]:
    touched: dict[str, list[str]] = defaultdict(list)
    for step in steps:
        machine = _tag(step.properties, MACHINE)
        if machine and (how := _touch(step)):
            touched[machine].append(f"{how} {step.type.rpartition(':')[2]} {step.name}")
    if len(touched) > 1:
        listed = "; ".join(f"{machine}: {', '.join(sorted(what))}" for machine, what in sorted(touched.items()))
        yield (
            f"{stack}: the run touches {len(touched)} machines of the control plane at once ({listed}). "
            "Change one machine after the other, or, where nothing runs on them yet, agree with --ignore machines"
        )


def _touch(step: Step) -> str | None:
    if step.type in PARTS or step.type in TEMPLATES:
        if step.verb in GONE:
            return GONE[step.verb]
        if step.verb == "updated" and step.type in PARTS:
            changed = _properties(step)
            return None if changed and changed <= PARTS[step.type] else "changes"
    return None


def _keys(stack: str, steps: list[Step]) -> Iterator[str]:
    for step in steps:
        if step.verb in GONE and step.type in TRUST_ROOTS and KEY_NAME.fullmatch(step.name):
            what = f"{step.type.rpartition(':')[2]} {step.name}"
            yield (
                f"{stack}: the run {GONE[step.verb]} {what}, which everything in the cluster trusts. Only "
                f"`landbridge pki rotate {stack}` may, after all machines have its successor; if it "
                "did elsewhere, your checkout lacks its last commit"
            )


def _laptops(stack: str, steps: list[Step]) -> Iterator[str]:
    gone = [step for step in steps if step.verb in GONE and step.type in TRUST_ROOTS and step.name in OF_LAPTOPS]
    if gone:
        what = ", ".join(sorted(f"{step.type.rpartition(':')[2]} {step.name}" for step in gone))
        region = laptops.region_of(stack)
        yield (
            f"{stack}: the run {GONE[gone[0].verb]} {what}, and all laptops' profiles of {region} are worth nothing "
            f"then. Where that is meant, agree with --ignore {LAPTOPS}"
        )


def _ssh(stack: str, steps: list[Step]) -> Iterator[str]:
    for step in steps:
        if step.verb in GONE and step.type in TRUST_ROOTS and (what := OF_SSH.get(step.name)):
            yield f"{stack}: the run {GONE[step.verb]} {what}. Where that is meant, agree with --ignore {SSH}"


def _runs(stack: str, steps: list[Step]) -> Iterator[str]:
    """A team's queue: training is state, too."""
    if gone := queues_gone(steps):
        yield (
            f"{stack}: the run deletes queues of {', '.join(gone)}. Work that waits in them never begins, and what "
            f"runs must end first: `landbridge queue` shows both. Where that is meant, agree with --ignore {RUNS}"
        )


def queues_gone(steps: Iterable[Step]) -> list[str]:
    """Teams whose queues the run deletes; in that of maintenance no work waits."""
    gone = {step.name.rpartition("/")[2] for step in steps if step.verb in GONE and step.type == TEAM_QUEUE}
    return sorted(gone - {maintenance_holds.CLUSTER_QUEUE})


def _tunnels(stack: str, steps: list[Step]) -> Iterator[str]:
    """One that goes with its site or its region is no fault, and the limits count it."""
    for step in steps:
        if step.type != CONNECTION or step.verb not in ("updated", "replaced"):
            continue
        felt = _properties(step) - UNFELT
        numbers = {match[1] for name in felt if (match := OF_TUNNEL.match(name))}
        whole = sorted(name for name in felt if not OF_TUNNEL.match(name))
        if step.verb == "replaced" or whole or len(numbers) > 1:
            how = "replaces the connection" if step.verb == "replaced" else f"changes {', '.join(sorted(felt))}"
            yield (
                f"{stack}: the run takes both tunnels of {step.name} down at once: it {how}. Change one tunnel, see it "
                "up, then the other; or, in an hour when nobody needs that link, agree with --ignore tunnels"
            )


def _properties(step: Step) -> set[str]:
    return {path.partition(".")[0].partition("[")[0] for path in step.changed}


def _tag(properties: Mapping[str, Any], name: str) -> str | None:
    """A tag's value; scaling groups list theirs."""
    tags = properties.get("tags") or {}
    if isinstance(tags, list):
        tags = {entry.get("key"): entry.get("value") for entry in tags if isinstance(entry, Mapping)}
    value = tags.get(name) if isinstance(tags, Mapping) else None
    return value if isinstance(value, str) else None
