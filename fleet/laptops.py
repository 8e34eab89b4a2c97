"""Which regions have servers for laptops, and how these are called: known before any of it exists."""

from collections.abc import Sequence

from .address import sizes
from .model import Fleet

# Below the fleet's own name: of bundles in the bucket, and of secrets.
PLACE = "laptops"
# In the bucket of a region: who is let in no more (signed, and public), and what was given to whom (no keys).
REVOKED, ISSUED = f"{PLACE}/revoked.pem", f"{PLACE}/issued.json"
AUTHORITY, STACK = "authority", "-laptops"
# Resources of their stack that its profiles and machines hang on: the authority goes by the name of the place.
WRAPPING, SIGNING = f"{PLACE}-wrapping", f"{PLACE}-manifests"
# OpenVPN's own, by UDP: the one port that is open to the world without an entry under `ingress`.
PORT = 1194


def stack(region: str) -> str:
    """The stack of a region's servers."""
    return f"{region}{STACK}"


def region_of(stack: str) -> str:
    """The other way round; empty for other kinds of stacks."""
    return stack.removesuffix(STACK) if stack.endswith(STACK) else ""


def cluster(fleet: Fleet, region: str) -> str | None:
    """The cluster that a region's servers are nodes of, so that laptops reach its pods; None without servers.

    Where the fleet file names none it is the one of `candidates`: fleet.pools refuses several, or the order in the file
    would move servers.
    """
    about = fleet.regions.get(region)
    if about is None or not about.laptops:
        return None
    if isinstance(about.laptops, str):
        return about.laptops
    return next(iter(candidates(fleet, region)), None)


def candidates(fleet: Fleet, region: str) -> list[str]:
    """The region's own clusters, and where it has none, all of the fleet."""
    own = [name for name, one in fleet.clusters.items() if one.region == region]
    return own or list(fleet.clusters)


def served(fleet: Fleet, region: str) -> bool:
    """Whether a region has servers. They are nodes of a cluster: without one there are none."""
    return cluster(fleet, region) is not None


def regions(fleet: Fleet, name: str) -> tuple[str, ...]:
    """Those whose servers are nodes of a cluster."""
    return tuple(region for region in fleet.regions if cluster(fleet, region) == name)


def servers(fleet: Fleet, region: str) -> tuple[str, ...]:
    """Names of a region's servers."""
    return tuple(f"vpn-{number}" for number in sizes.LAPTOP_POOLS) if served(fleet, region) else ()


def zones(known: Sequence[str]) -> tuple[str, ...]:
    """Where a region's servers stand, out of its zones in the ledger's order: a new zone moves no server."""
    return tuple(known[number % len(known)] for number, _ in enumerate(sizes.LAPTOP_POOLS))


def machine(region: str, server: str) -> str:
    return f"{region}-{server}"


def authority_place(fleet: str) -> str:
    """The secret with the key that signs people's certificates, in each region of its own."""
    return f"{fleet}/{PLACE}/{AUTHORITY}"
