"""A region's authority for laptops, as `certificates.kept` keeps it."""

from datetime import datetime

from components.links.laptops import authority as authorities
from components.links.laptops.authority import Authority, Listed, Revoked
from fleet import laptops
from fleet.world import World
from landbridge.certificates.ledger import Ledger
from landbridge.certificates.store import CertificateStore
from landbridge.places import Place


class Store(CertificateStore[Authority, Listed]):
    """One region's."""

    what, issued, revoked, kind = "servers for laptops", laptops.ISSUED, laptops.REVOKED, "application/x-pem-file"
    behind = "servers still go by the old list: `landbridge vpn sign` lays the new one"

    def __init__(self, world: World, place: Place, region: str) -> None:
        super().__init__(world, place, region, laptops.stack(region))

    @property
    def addresses(self) -> list[str]:
        """Public ones of the servers, in the order of their names."""
        return [str(one["address"]) for _, one in sorted(self.outputs["servers"].items())]

    def read(self, secret: str) -> Authority:
        return authorities.read(secret)

    def public(self, authority: Authority) -> str:
        return authority.certificate

    def look(self, text: str) -> Listed:
        return authorities.listed(text, self.vouching)

    def made(self, ledger: Ledger, now: datetime) -> str:
        gone = [Revoked(one.serial, one.revoked, one.until) for one in ledger.issued if one.revoked]
        return authorities.revocations(self.authority, gone, ledger.number, now)
