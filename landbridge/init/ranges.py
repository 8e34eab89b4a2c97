"""Where the fleet's addresses come from: chosen by the plan's own code, so that the first plan always finds room."""

import datetime
import math

from fleet.address import reserved
from fleet.address.blocks import Block, Pool, parse
from fleet.address.names import is_aggregate
from fleet.address.plan import draft
from fleet.address.requests import requests
from fleet.model import Fleet
from fleet.rules import PRIVATE

# So many times the fleet as it begins: a region more is an entry more, and no move.
GROWTH = 4
# fleet.rules: no supernet is smaller.
SMALLEST = 16
# A day only says when prefixes were given out.
ANY_DAY = datetime.date(2000, 1, 1)


def needed(fleet: Fleet) -> int:
    """Addresses of all regions, sites and clusters: each one's whole block."""
    return sum(1 << (32 - one.length) for one in requests(fleet) if is_aggregate(one.name))


def length(addresses: int) -> int:
    """Of the smallest prefix that holds so many."""
    return 32 - math.ceil(math.log2(max(addresses, 1)))


def supernet(fleet: Fleet) -> str | None:
    """A private prefix outside of all that is reserved, with room to grow where there is such; else one with room.

    The one that `fleet` has already is not looked at. None where the whole private space has no room.
    """
    addresses = needed(fleet)
    wanted = min(length(addresses * GROWTH), SMALLEST)
    for bits in range(wanted, SMALLEST + 1):
        for root in PRIVATE:
            if (block := _free(root, bits, fleet)) and _fits(fleet, block):
                return str(block)
    return None


def _free(root: Block, bits: int, fleet: Fleet) -> Block | None:
    if bits < root.length:
        return None
    pool = Pool(root)
    for taken in (*reserved.reserved_blocks(), *(parse(one.cidr) for one in fleet.reserved)):
        pool.carve(taken)
    return pool.take(bits)


def _fits(fleet: Fleet, block: Block) -> bool:
    return not draft(fleet.model_copy(update={"supernet": str(block)}), None, ANY_DAY).refusals
