"""A region's authority for people's certificates by SSH, as `certificates.kept` keeps it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from components.boot import certificates
from components.boot.certificates import Listed, Revoked
from fleet import logins
from fleet.world import World
from landbridge.certificates.ledger import Ledger
from landbridge.certificates.store import CertificateStore
from landbridge.cluster.info import published
from landbridge.places import Place


def of_region(place: Place, region: str) -> Mapping[str, Any]:
    """What a region publishes of its authority; nothing where it has none."""
    return published(place, region).get("ssh") or {}


class Store(CertificateStore[Ed25519PrivateKey, Listed]):
    """One region's."""

    what, issued, revoked, kind = "authority for SSH", logins.ISSUED, logins.REVOKED, "text/plain"
    behind = "machines still go by the old list: `landbridge ssh revoke` of the same person lays the new one"

    def __init__(self, world: World, place: Place, region: str) -> None:
        super().__init__(world, place, region, region)

    def published(self, place: Place, stack: str) -> Mapping[str, Any]:
        return of_region(place, stack)

    def read(self, secret: str) -> Ed25519PrivateKey:
        return certificates.read(secret)

    def public(self, authority: Ed25519PrivateKey) -> str:
        return certificates.public_line(authority)

    def look(self, text: str) -> Listed:
        return certificates.listed(text, self.vouching)

    def made(self, ledger: Ledger, now: datetime) -> str:
        gone = [Revoked(one.serial, one.until) for one in ledger.revoked]
        return certificates.revocations(self.authority, gone, ledger.number, now)
