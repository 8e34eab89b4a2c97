"""What lets a host of a site in, as data: its token, its own file, and the one command that is run there.

Nothing of it lies in a bundle or in a bucket: the token goes from who enrols to the host, and to the cluster.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from components.control_plane.units import SCRIPTS

from ..admission import MANAGED, SPACE
from ..bundle import OWN_SCRIPTS, SITE_SCRIPT
from ..labels import DOMAIN

# How the service that judges joins knows whose a token is (on_machine/join_rules.py).
GROUP = "system:bootstrappers:landbridge"
LIFETIME, LONGEST = timedelta(hours=1), timedelta(hours=24)
SITE_LABEL, HOST_LABEL = f"{DOMAIN}/site", f"{DOMAIN}/host"
# What a token's parts are made of, and how many of it ("Authenticating with Bootstrap Tokens").
ALPHABET, ID_CHARACTERS, SECRET_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789", 6, 16
END = "LANDBRIDGE"


class Token(NamedTuple):
    """`id` is public, `secret` is not: both together are the token."""

    id: str
    secret: str
    until: datetime

    @property
    def text(self) -> str:
        return f"{self.id}.{self.secret}"


class Pointer(NamedTuple):
    """A published bundle: its prefix and version, whose signature it bears, and addresses that are good for a while."""

    prefix: str
    version: str
    verify_key: str
    manifest_url: str
    files_url: str


def node_name(site: str, host: str) -> str:
    return f"{host}.{site}"


def host_file(host: str, address: str | None) -> dict[str, str]:
    """What on_machine/node_facts.py reads. Without an address the host takes its own."""
    return {"host": host, **({"address": address} if address else {})}


def secret(token: Token, site: str, host: str) -> dict[str, Any]:
    """As the API server takes a bootstrap token; its groups make it good for that host and for no other."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": f"bootstrap-token-{token.id}",
            "namespace": SPACE,
            "labels": {**MANAGED, SITE_LABEL: site, HOST_LABEL: host},
        },
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "description": f"Enrols {host} of site {site}",
            "token-id": token.id,
            "token-secret": token.secret,
            "expiration": f"{token.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": f"{GROUP}:{site}:{host}",
        },
    }


def command(
    pointer: Pointer,
    site: str,
    host: Mapping[str, str],
    token: Token | None,
    until: datetime,
    leaves: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """For a shell of root's. On its input the token is in nobody's list of processes; no line of it is long for a tty.

    Without a token it is for a host that is no node. `leaves`: of another pool of that `fleet` it is no more, but for
    clusters that are `unasked`.
    """
    given = {
        "prefix": pointer.prefix,
        "version": pointer.version,
        "key": pointer.verify_key,
        "manifest": pointer.manifest_url,
        "files": pointer.files_url,
        "script": f"{SCRIPTS}/{SITE_SCRIPT}.py",
        "host": dict(host),
        "token": token.text if token else None,
        "leaves": dict(leaves),
    }
    values = "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in given.items()) + "}"
    text = (OWN_SCRIPTS / "enrol.py").read_text().replace("= {}\n", f"= {values}\n", 1)
    text = text.replace("HOST", node_name(site, host["host"])).replace("UNTIL", f"{until.astimezone(UTC):%F %H:%M} UTC")
    return f"python3 - <<'{END}'\n{text}{END}\n"
