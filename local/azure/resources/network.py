"""Virtual networks and their subnets."""

from ipaddress import IPv4Network

from ..errors import bad_request
from ..kinds import SLOW, Kind, Turn
from ..store import Resource

NETWORK, SUBNET = "Microsoft.Network/virtualNetworks", "Microsoft.Network/virtualNetworks/subnets"
LARGEST, SMALLEST = 2, 29


def prefixes(network: Resource) -> list[IPv4Network]:
    return [IPv4Network(one) for one in network.properties.get("addressSpace", {}).get("addressPrefixes", ())]


def _network(turn: Turn) -> None:
    try:
        spaces = prefixes(turn.new)
    except ValueError as error:
        raise bad_request("InvalidCIDRNotation", f"The address prefix is not valid: {error}.") from None
    if not spaces:
        raise bad_request("MissingAddressSpace", f"Virtual network {turn.id.name} has no address prefix.")


KINDS = (
    Kind(NETWORK, check=_network, parts={"subnets": SUBNET}, keeps_parts=True, slow=SLOW),
    Kind(SUBNET, tracked=False, slow=SLOW),
)
