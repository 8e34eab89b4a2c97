"""States of links, in the same words for both clouds: tunnels to sites, and peerings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from components.links.plan import Peering

UP, DOWN, UNKNOWN, NONE = "up", "down", "not known", "not built"
# A peering that is up, in AWS's word.
AVAILABLE = "available"
# What AWS says beside a tunnel that is down → why that is, as far as AWS can tell, and what to do.
SILENT, AGREED = "IPSEC IS DOWN", "IPSEC IS UP"
# Ours, of a connection of Azure.
UNTOLD = "Azure tells nothing of its tunnels"
CAUSES = {
    SILENT: "the gateway has no keys agreed with this end. On the gateway: gateway_verify.py says whether it "
    "is installed and answers; UDP 500 and 4500 must pass to this address; key and proposal are those of "
    "`landbridge site gateway`",
    AGREED: "both ends have their keys, and BGP does not speak. On the gateway: `vtysh -c 'show bgp summary'`; "
    "TCP 179 must pass inside the tunnel, and the site's asn be that of fleet.yaml",
    UNTOLD: "Azure tells nothing of its tunnels, but that their connection has keys and hears no BGP by this one. On "
    "the gateway: gateway_verify.py says which of the two is missing",
}
OTHERWISE = "`aws ec2 describe-vpn-connections` and the tunnel's log have more"
NO_ROUTE = "it is up and the site tells it nothing: `vtysh -c 'show ip bgp'` on the gateway must have the site's block"

# A region's connections by their ids, each as the links' stack has published it.
Published = Mapping[str, Mapping[str, Any]]
# States of peerings, as far as a cloud has told them; one that it does not have is not in it.
States = Mapping[Peering, str]


class TunnelStatus(NamedTuple):
    """A tunnel as the region's end sees it. `prefixes` are those that it took from the site.

    `cause` is what the gateway says is wrong, where that is known.
    """

    tunnel: str
    site: str
    region: str
    gateway: str
    address: str
    state: str
    message: str = ""
    since: datetime | None = None
    prefixes: int = 0
    cause: str = ""

    @property
    def trouble(self) -> str:
        """Why it carries nothing; empty if it does."""
        if self.cause:
            return f"the gateway says that {self.cause}"
        if self.state == UP:
            return "" if self.prefixes else NO_ROUTE
        return self.message if self.state in (UNKNOWN, NONE) else CAUSES.get(self.message, OTHERWISE)

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "trouble": self.trouble}


class PeeringStatus(NamedTuple):
    """Two regions; `state` is the cloud's word, or that it is not known or not built."""

    here: str
    there: str
    state: str

    @property
    def up(self) -> bool:
        return self.state == AVAILABLE


def whose(name: str, connection: Mapping[str, Any], address: str) -> tuple[str, str, str, str, str]:
    """What `TunnelStatus` begins with, of a tunnel of a connection as the links' stack has published it."""
    return name, str(connection["site"]), str(connection["region"]), str(connection["gateway"]), address
