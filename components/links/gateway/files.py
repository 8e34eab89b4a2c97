"""All files of a gateway, less the keys."""

from . import bgp, firewall, interfaces, ipsec
from .spec import GatewaySpec


def files(spec: GatewaySpec) -> dict[str, str]:
    """Path → content."""
    return dict(sorted((ipsec.files(spec) | interfaces.files(spec) | bgp.files(spec) | firewall.files(spec)).items()))
