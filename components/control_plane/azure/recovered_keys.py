"""The keys of a cluster that is rebuilt, out of the vault of the region that kept a copy."""

from collections.abc import Mapping

import pulumi_azure_native as azure

from components.storage.azure.secrets import secret
from fleet.buckets import vault_name
from fleet.model import Fleet
from fleet.rebuilds import Origin

from ..authority import Recovered
from ..pki import Generations
from ..rotation import wanted

GONE = "fleet.rebuilt.yaml names it, and keys that are trusted come from it alone: recover it in the vault"


def recovered(
    fleet: Fleet, origin: Origin | None, generations: Mapping[str, Generations], provider: azure.Provider
) -> Recovered | None:
    """None when nothing is to be taken from there: the cluster was born here, or all its keys have rotated since."""
    if origin is None or not wanted(origin, generations):
        return None
    found = secret(vault_name(fleet, origin.region), origin.secret, provider, GONE)
    return Recovered(found, origin.generations)
