"""All files of a gateway."""

from collections.abc import Mapping

from . import bgp, firewall, interfaces, ipsec, pair, watching
from .spec import GatewaySpec
from .stamp import listed, stamped

PARTS = (ipsec, interfaces, bgp, firewall, pair, watching)


def files(spec: GatewaySpec) -> dict[str, str]:
    """Path → content, less the keys."""
    return stamped(spec, dict(sorted((path, text) for part in PARTS for path, text in part.files(spec).items())))


def whole(spec: GatewaySpec, keys: Mapping[str, str]) -> dict[str, str]:
    """With the keys, and the list of all. Raises KeyError for a tunnel without a key."""
    made = {**files(spec), **stamped(spec, ipsec.secrets(spec, keys))}
    return {**made, **listed(spec, made)}
