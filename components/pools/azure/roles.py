"""What a pool's machines may do in their subscription, as plain data: read their bundle, and nothing else.

Joining needs no right: Azure itself vouches for a machine to whoever asks there.
"""

from typing import NamedTuple

from components.boot import people
from components.control_plane.azure.roles import READER, SECRETS_USER, reading
from components.storage.azure.spec import CONTAINER, role_assignment, vault_id
from fleet import logins
from fleet.azure.ids import role, subscription
from fleet.buckets import bucket_name, resource_group
from fleet.model import Fleet

from ..spec import PoolSpec


class Grant(NamedTuple):
    """`name` is a GUID that follows from what it is; `condition` says which blobs."""

    name: str
    role: str
    scope: str
    condition: str


def bundle_grant(fleet: Fleet, spec: PoolSpec) -> Grant:
    """To read what lies in the pool's own folder, by its whole path: the folder can't be listed."""
    place = f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, spec.place)}"
    account = f"{place}/providers/Microsoft.Storage/storageAccounts/{bucket_name(fleet, spec.place)}"
    return Grant(
        role_assignment(fleet, spec.place, f"{spec.name}/bundle"),
        role(fleet, READER),
        f"{account}/blobServices/default/containers/{CONTAINER}",
        reading([f"{spec.prefix}/*", *([logins.REVOKED] if people.shows(fleet, spec.logins) else ())]),
    )


def key_grant(fleet: Fleet, spec: PoolSpec, secret: str) -> Grant:
    """To read one secret of the vault, by its name: the key that machines show to people's clients."""
    scope = f"{vault_id(fleet, spec.place)}/secrets/{secret}"
    return Grant(role_assignment(fleet, spec.place, f"{spec.name}/keys"), role(fleet, SECRETS_USER), scope, "")
