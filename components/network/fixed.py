"""Fixed addresses: the first /27 of every private subnet is kept from automatic assignment, and its slots are named.

What others must find under one address for years stands here: mount targets and, in a cluster's home region, balancers.
"""

from fleet.address.blocks import Block, parse

LENGTH = 27
# Append only: a slot's address is in machines' mount tables. AWS and Azure keep the first four of a subnet.
SLOTS = {"shares": 4}


def fixed_block(subnet_cidr: str) -> str:
    """The CIDR that is kept free of automatic assignment."""
    return str(parse(subnet_cidr).child(0, LENGTH))


def fixed_address(subnet_cidr: str, slot: str) -> str:
    """The slot's address in a private subnet. Raises KeyError for a slot that is not in SLOTS."""
    address = Block(parse(subnet_cidr).start + SLOTS[slot], 32)
    return str(address).removesuffix("/32")
