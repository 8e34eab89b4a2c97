"""Where a prefix may lie at all, so that a ledger which says otherwise is not believed."""

from typing import NamedTuple

from ..model import Fleet
from . import reserved
from .blocks import Block, parse
from .names import SUPERNET, TUNNELS, parent_of
from .requests import Request


class Misplaced(NamedTuple):
    """Why a live prefix can't stay, the entry of the fleet file that makes it so, and what would be right."""

    entry: tuple[str | int, ...]
    what: str
    remedy: str


def misplaced(fleet: Fleet, request: Request, live: Block) -> Misplaced | None:
    """None when the prefix lies where it may. Children lie in their parents, which `ledger.load` checks."""
    match parent_of(request.name):
        case str(parent) if parent == SUPERNET and request.pin is None:
            return _in_supernet(fleet, request, live)
        case str(parent) if parent == TUNNELS:
            return _in_tunnels(request, live)
    return None


def _in_supernet(fleet: Fleet, request: Request, live: Block) -> Misplaced | None:
    if not parse(fleet.supernet).holds(live):
        what = f"{request.name} is live as {live}, outside the supernet {fleet.supernet}; a live prefix never moves"
        return Misplaced(("supernet",), what, f"Choose a supernet that holds {live}, or pin it where it is")
    for n, item in enumerate(fleet.reserved):
        if parse(item.cidr).overlaps(live):
            what = f"reserved {item.cidr} overlaps {request.name}, which is live as {live}"
            return Misplaced(("reserved", n), what, f"Reserve less, or move away from {request.name} first")
    return None


def _in_tunnels(request: Request, live: Block) -> Misplaced | None:
    azure = any(parse(cidr).holds(live) for cidr in reserved.AZURE_TUNNEL_ROOTS)
    reserved_here = any(parse(cidr).overlaps(live) for cidr, _ in reserved.TUNNEL_RESERVED)
    if azure == request.azure and not reserved_here and parse(reserved.TUNNEL_ROOT).holds(live):
        return None
    cloud = "Azure" if request.azure else "AWS"
    what = f"{request.name} is live as {live}, where {cloud} has no tunnels"
    return Misplaced(request.entry, what, "Give the region or site another name, which gets tunnels of its own")
