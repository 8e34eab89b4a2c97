"""Names that clouds bound in length."""

import hashlib

DIGEST = 6


def fitting(name: str, most: int) -> str:
    """`name`, or its beginning with a digest of all of it where it is longer than `most`."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:DIGEST]
    return f"{name[: most - DIGEST - 1].rstrip('-')}-{digest}"
