"""Azure's names inside the local cloud, and which service answers each. Names of others do not exist there."""

import re
from collections.abc import Iterator

from .store import Store

ADDRESS, PORT = "168.63.129.16", 443  # Azure's own platform address, which no network of a fleet holds
ARM, LOGIN = "management.azure.com", "login.microsoftonline.com"
VAULT, BLOB = "vault.azure.net", "blob.core.windows.net"
DISKS = "md-impexp-local.z1.blob.storage.azure.net"  # where managed disks' bytes are written and read
PKI = "www.microsoft.com"  # where certificates name their issuers' to be, over plain HTTP
# Those that hang on no vault or account.
ALWAYS = (ARM, LOGIN, DISKS, PKI)
# Type → below which domain each has a name of its own.
OWNED = {"Microsoft.KeyVault/vaults": VAULT, "Microsoft.Storage/storageAccounts": BLOB}
# Pattern → service.
SERVICES = (
    (re.compile(re.escape(ARM)), "arm"),
    (re.compile(re.escape(LOGIN)), "login"),
    (re.compile(re.escape(DISKS)), "disks"),
    (re.compile(rf"([a-z0-9-]{{3,24}})\.{re.escape(VAULT)}"), "vault"),
    (re.compile(rf"([a-z0-9]{{3,24}})\.{re.escape(BLOB)}"), "blob"),
)


def owned(store: Store) -> Iterator[str]:
    """Those of the vaults and accounts that there are."""
    for type_, end in OWNED.items():
        yield from (f"{one.id.name.lower()}.{end}" for one in store.all(type_))


def service_of(name: str) -> tuple[str, str] | None:
    """Service and, of a vault or a storage account, whose it is; None for a name that nobody has here."""
    for pattern, service in SERVICES:
        if found := pattern.fullmatch(name.lower()):
            return service, found[1] if found.groups() else ""
    return None
