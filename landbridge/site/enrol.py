"""Enrolling a host: a token of its own, and the command that is run there."""

import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from components.pools.admission import SPACE
from components.pools.site import enrolment
from components.pools.site.enrolment import Token
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.errors import UsageError

from . import store, transfer
from .hosts import SiteHost


class Enrolment(NamedTuple):
    """`command` holds the token; it is for the host, and for nobody's log."""

    host: SiteHost
    command: str
    until: datetime

    def as_json(self) -> dict[str, Any]:
        host = self.host
        named = {"cluster": host.cluster, "site": host.site, "host": host.name, "node": host.node, "pool": host.pool}
        return {**named, "until": self.until, "command": self.command}


def lifetime(hours: float) -> timedelta:
    """Raises UsageError for one that is too long or none."""
    chosen, longest = timedelta(hours=hours), enrolment.LONGEST
    if not timedelta(minutes=5) <= chosen <= longest:
        raise UsageError(
            f"A token is good for 5 minutes to {longest.total_seconds() / 3600:.0f} hours, not for {hours:g}."
        )
    return chosen


def enrol(session: Session, host: SiteHost, lasts: timedelta, address: str | None = None) -> Enrolment:
    """Replaces any earlier token of the host. `address` is for a host whose fleet file gives none. LandbridgeError."""
    leaves = transfer.leave(session, host)
    published = store.read(session, host.pool, [host.name])[host.name]
    until = datetime.now(UTC) + lasts
    token = given(session.admin, host, until) if host.joins else None
    pointer = store.pointer(session, published, int(lasts.total_seconds()))
    host_file = enrolment.host_file(host.name, host.address or address)
    return Enrolment(host, enrolment.command(pointer, host.site, host_file, token, until, leaves._asdict()), until)


def given(kube: Kube, host: SiteHost, until: datetime) -> Token:
    """The one token that is good for the host from now on."""
    token = Token(drawn(enrolment.ID_CHARACTERS), drawn(enrolment.SECRET_CHARACTERS), until)
    mine = f"--selector={enrolment.SITE_LABEL}={host.site},{enrolment.HOST_LABEL}={host.name}"
    kube.done("delete", "secrets", f"--namespace={SPACE}", mine)
    # Through its input: nobody's list of processes has it.
    manifest = enrolment.secret(token, host.site, host.name)
    kube.done("create", "--filename=-", stdin=json.dumps(manifest))
    return token


def drawn(count: int) -> str:
    return "".join(secrets.choice(enrolment.ALPHABET) for _ in range(count))
