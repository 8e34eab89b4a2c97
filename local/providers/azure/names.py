"""Names and places that a program leaves out, as the real provider fills them in.

Source: its pkg/resources/resources.go (how each name is made) and pkg/provider/provider.go (getDefaultLocation).
"""

import hashlib
import secrets
import uuid

from ..codec import Properties
from .kinds import Kind

# Azure wants these to be GUIDs.
GUIDS = frozenset(("roleAssignmentName", "roleDefinitionId"))


def name_of(kind: Kind, name: str, olds: Properties, seed: bytes) -> str:
    """NAME and 8 hex digits for what stands by itself; NAME for a part of something; a GUID for roles."""
    if old := olds.get(kind.named):
        return str(old)
    digest = hashlib.sha256(seed + name.encode()).hexdigest() if seed else secrets.token_hex(32)
    if kind.named in GUIDS:
        return str(uuid.UUID(digest[:32]))
    own = kind.path.lower().split("microsoft.")
    alone = len(own) == 1 or own[-1].count("{") == 1
    return f"{name}{digest[:8]}" if alone else name
