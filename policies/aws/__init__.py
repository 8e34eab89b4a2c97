"""Rules about AWS's own types. buckets, grants, role_documents, machines and sites have no twin: roles on Azure are
assignments and no documents, its accounts are judged in azure/stores.py, and a site's hosts take roles of AWS alone.
"""

from . import addresses, exposure, images, links, machines, pools, roles, sites

__all__ = ["addresses", "exposure", "images", "links", "machines", "pools", "roles", "sites"]
