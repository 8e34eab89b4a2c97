"""How people prove who they are to machines by SSH, and where what that takes lies: known before any of it exists."""

from .model import Fleet

# Below the fleet's own name, of secrets; and in the bucket of a region.
PLACE = "ssh"
# What vouches for a stack's machines to people's clients: a name of keys in its state.
HOSTS = "hosts"
# Who is let in no more (signed, and public), and what was given to whom (no keys).
REVOKED, ISSUED = f"{PLACE}/revoked", f"{PLACE}/issued.json"


def by_certificate(fleet: Fleet) -> bool:
    """Whether short-lived certificates let people in, and keys by themselves nobody."""
    return fleet.ssh == "certificates"


def served(fleet: Fleet, region: str) -> bool:
    """Whether a region has an authority, for all machines whose bundles lie there."""
    return region in fleet.regions and by_certificate(fleet)


def pools_host(fleet: Fleet, region: str) -> str:
    """What people's clients take machines of all pools of a region for, which share its subnets. No DNS has it."""
    return f"pools.{region}.{fleet.domain}"


def authority_place(fleet: str) -> str:
    """The secret with the key that signs people's certificates, in each region of its own."""
    return f"{fleet}/{PLACE}/authority"
