"""Every type that the local Azure knows, by its name in small letters. A new one is a `Kind` in a fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import blob_services, file_shares, identities, network, roles, storage_accounts, vault_contents, vaults

TOPICS = (network, storage_accounts, blob_services, file_shares, vaults, vault_contents, identities, roles)
KINDS: Mapping[str, Kind] = {kind.type.lower(): kind for topic in TOPICS for kind in topic.KINDS}
