"""Rules about Azure's own types. stores has no twin of its name: AWS's buckets are judged in aws/buckets.py."""

from . import addresses, exposure, images, links, pools, roles, stores

__all__ = ["addresses", "exposure", "images", "links", "pools", "roles", "stores"]
