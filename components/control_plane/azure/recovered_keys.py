"""The keys of a cluster that is rebuilt, out of the vault of the region that kept a copy."""

from collections.abc import Mapping

import pulumi_azure_native as azure

from components.storage.azure.secrets import secret
from fleet.buckets import vault_name
from fleet.model import Fleet
from fleet.rebuilds import Origin

from ..authority import Recovered
from ..pki import Generations
from ..recovered_keys import found

GONE = "fleet.rebuilt.yaml names it, and keys that are trusted come from it alone: recover it in the vault"


def recovered(
    fleet: Fleet, origin: Origin | None, generations: Mapping[str, Generations], provider: azure.Provider
) -> Recovered | None:
    """None as for `found`."""
    return found(origin, generations, lambda one: secret(vault_name(fleet, one.region), one.secret, provider, GONE))
