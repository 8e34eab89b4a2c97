"""All files of a gateway, less the keys."""

from . import bgp, firewall, interfaces, ipsec, watching
from .spec import GatewaySpec

PARTS = (ipsec, interfaces, bgp, firewall, watching)


def files(spec: GatewaySpec) -> dict[str, str]:
    """Path → content."""
    return dict(sorted((path, text) for part in PARTS for path, text in part.files(spec).items()))
