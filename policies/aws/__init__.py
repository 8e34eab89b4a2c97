"""Rules about AWS's own types."""

from . import addresses, exposure, images, links, machines, pools, roles, sites

__all__ = ["addresses", "exposure", "images", "links", "machines", "pools", "roles", "sites"]
