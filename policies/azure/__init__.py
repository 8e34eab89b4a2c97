"""Rules about Azure's own types."""

from . import addresses, exposure, images, links, pools, roles, stores

__all__ = ["addresses", "exposure", "images", "links", "pools", "roles", "stores"]
