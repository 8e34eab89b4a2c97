"""What a server may do in Azure, as plain data: its own bundle and keys, and the lists of revoked certificates."""

from components.control_plane.azure.roles import READER, SECRETS_USER, Grant, reading
from components.storage.azure.spec import CONTAINER, bucket_id, role_assignment, vault_id
from fleet import laptops, logins
from fleet.azure.ids import role
from fleet.logins import by_certificate
from fleet.model import Fleet

from ..spec import LaptopsSpec, Server


def bundle_grant(fleet: Fleet, spec: LaptopsSpec, server: Server) -> Grant:
    """It writes nowhere, and signs nothing."""
    own = [f"{spec.prefix(server.name)}/*", laptops.REVOKED]
    if spec.logins and by_certificate(fleet):
        own.append(logins.REVOKED)
    scope = f"{bucket_id(fleet, spec.region)}/blobServices/default/containers/{CONTAINER}"
    return Grant("bundle", _name(fleet, spec, server, "bundle"), role(fleet, READER), scope, reading(own))


def key_grant(fleet: Fleet, spec: LaptopsSpec, server: Server, secret: str) -> Grant:
    """To read one secret of the vault, by its name."""
    scope = f"{vault_id(fleet, spec.region)}/secrets/{secret}"
    return Grant("keys", _name(fleet, spec, server, "keys"), role(fleet, SECRETS_USER), scope)


def _name(fleet: Fleet, spec: LaptopsSpec, server: Server, what: str) -> str:
    return role_assignment(fleet, spec.region, f"{laptops.PLACE}/{server.name}/{what}")
