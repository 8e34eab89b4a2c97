"""Metrics and alarms of clusters: what is called how, and what `monitoring` of the fleet file must keep to."""

from collections.abc import Iterator

from .model import Fleet
from .monitoring_model import Receiver

Wrong = tuple[tuple[str | int, ...], str, str]
SPACE = "landbridge-monitoring"
# In that namespace, by receivers' names: an address that is a secret itself, a key, or a password.
SECRET = "alarm-receivers"  # noqa: S105
# In that namespace, as `token`: by which metrics may be sent to where they are kept for longer.
REMOTE_WRITE, TOKEN = "remote-write", "token"
# What metrics and logs together may have of a system machine's disk of 50: its image and other pods have the rest.
MOST_GIB = 30
# Alarms that are no team's.
OPERATORS = "operators"
# Of mail, with an example each.
MAIL = {"to": "lab@example.com", "sender": "alarms@example.com", "server": "smtp.example.com:587"}
# By kinds: what nobody else may know.
SECRETS = {
    "webhook": "its address",
    "slack": "the address of its incoming webhook",
    "pagerduty": "the integration's key",
    "email": "the password of its sender",
}


def metrics_api(fleet: Fleet) -> bool:
    """Whether its clusters have the API of the group metrics.k8s.io."""
    return bool(fleet.monitoring and fleet.monitoring.metrics_api)


def keeps_logs(fleet: Fleet) -> bool:
    """Whether what pods and nodes say is there when they are gone."""
    return bool(fleet.monitoring and fleet.monitoring.logs)


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, receiver in (fleet.monitoring.receivers if fleet.monitoring else {}).items():
        yield from (((*_place(name), key), what, remedy) for key, what, remedy in _of_one(fleet, name, receiver))
    yield from _disks(fleet)
    for alarm, own in (fleet.monitoring.alarms if fleet.monitoring else {}).items():
        if own.owner not in (OPERATORS, *fleet.teams):
            what = f"alarm {alarm} is {own.owner}'s, which is no team"
            yield ("monitoring", "alarms", alarm, "owner"), what, _known(fleet)


def _disks(fleet: Fleet) -> Iterator[Wrong]:
    given = fleet.monitoring
    if given and given.logs and (wanted := given.disk_gib + given.logs.disk_gib) > MOST_GIB:
        what = f"metrics and logs want {wanted} GiB of each system machine, which has {MOST_GIB} for them"
        most = MOST_GIB - given.disk_gib
        remedy = f"Write disk_gib: {most} or less" if most else "Lower disk_gib of monitoring"
        yield ("monitoring", "logs", "disk_gib"), what, remedy


def _place(name: str) -> tuple[str, ...]:
    return "monitoring", "receivers", name


def _of_one(fleet: Fleet, name: str, receiver: Receiver) -> Iterator[tuple[str, str, str]]:
    of_mail = receiver.kind == "email"
    for key, example in MAIL.items():
        given = getattr(receiver, key) is not None
        if of_mail and not given:
            yield "kind", f"receiver {name} is of kind email and has no {key}", f"Add it, such as {key}: {example}"
        elif given and not of_mail:
            remedy = f"Leave {key} out: {SECRETS[receiver.kind]} lies in the cluster (docs/guide/monitoring.md)"
            yield key, f"receiver {name} is of kind {receiver.kind}, which has no {key}", remedy
    if not (receiver.password or of_mail):
        what = f"receiver {name} is of kind {receiver.kind}, which is always told by what only it may know"
        yield "password", what, "Leave password out"
    for owner in receiver.owners:
        if owner not in (OPERATORS, *fleet.teams):
            yield "owners", f"receiver {name} is told of alarms of {owner}, which is no team", _known(fleet)


def _known(fleet: Fleet) -> str:
    return f"Known: {', '.join((OPERATORS, *sorted(fleet.teams)))}"
