"""Names for resources whose program gives none, as the real providers make them."""

import hashlib


def autoname(name: str, seed: bytes) -> str:
    """NAME-<7 hex>. The engine's seed keeps it the same in preview and update; without one the name is made anew."""
    digest = hashlib.sha256(seed + name.encode()).hexdigest() if seed else None
    if digest is None:
        import secrets

        digest = secrets.token_hex(4)
    return f"{name}-{digest[:7]}"
