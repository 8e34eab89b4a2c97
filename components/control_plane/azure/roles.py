"""What a machine may do in Azure, as plain data: its own bundle and keys, what it lays down, and nothing else.

Roles are Azure's own, each over one container or one secret; conditions say which blobs. A condition that knows no
beginning for an action ends that action: no machine deletes, and none reads what it wrote.
"""

from typing import NamedTuple

from components.storage.azure.spec import CONTAINER, role_assignment, vault_id
from fleet import logins
from fleet.azure.ids import role, subscription
from fleet.buckets import bucket_name, resource_group
from fleet.logins import by_certificate
from fleet.model import Fleet

from ..backups import copies_place
from ..machines import ClusterSpec, Machine
from ..names import writes

# "Azure built-in roles": Storage Blob Data Reader and Contributor, Key Vault Secrets User.
READER, CONTRIBUTOR = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
SECRETS_USER = "4633458b-17de-408a-b874-0445c86b69e6"
BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
PATH, PREFIX = f"@Resource[{BLOBS}:path]", f"@Request[{BLOBS}:prefix]"
LISTS = "SubOperationMatches{'Blob.List'}"


class Grant(NamedTuple):
    """`name` is a GUID that follows from what it is; an empty `condition` is none."""

    what: str
    name: str
    role: str
    scope: str
    condition: str = ""


def grants(fleet: Fleet, spec: ClusterSpec, machine: Machine) -> tuple[Grant, ...]:
    """But for that of its secret, whose name its life ends: see `key_grant`."""
    own = [f"{spec.prefix(machine.name)}/*"]
    if spec.logins and by_certificate(fleet):
        own.append(logins.REVOKED)
    place = f"{writes(spec, machine)}/*"
    etcd = machine.role == "etcd"
    found = [
        _blobs(fleet, spec, machine, "bundle", spec.region, READER, reading(own)),
        _blobs(fleet, spec, machine, "write", spec.region, CONTRIBUTOR, writing(place, lists=etcd)),
    ]
    if etcd and spec.copies:
        there = f"{copies_place(spec.region, spec.name)}/*"
        found.append(_blobs(fleet, spec, machine, "copy", spec.copies.region, CONTRIBUTOR, writing(there, lists=False)))
    return tuple(found)


def key_grant(fleet: Fleet, spec: ClusterSpec, machine: Machine, secret: str) -> Grant:
    """To read one secret of the vault, by its name."""
    scope = f"{vault_id(fleet, spec.region)}/secrets/{secret}"
    return Grant("keys", _name(fleet, spec, machine, "keys"), role(fleet, SECRETS_USER), scope)


def _blobs(
    fleet: Fleet, spec: ClusterSpec, machine: Machine, what: str, region: str, guid: str, condition: str
) -> Grant:
    group = f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"
    account = f"{group}/providers/Microsoft.Storage/storageAccounts/{bucket_name(fleet, region)}"
    scope = f"{account}/blobServices/default/containers/{CONTAINER}"
    return Grant(what, _name(fleet, spec, machine, what), role(fleet, guid), scope, condition)


def _name(fleet: Fleet, spec: ClusterSpec, machine: Machine, what: str) -> str:
    return role_assignment(fleet, spec.region, f"{machine.name}/{what}")


def reading(patterns: list[str]) -> str:
    """Blobs of such paths, one at a time: no list tells what else there is."""
    fit = " OR ".join(f"{PATH} StringLike '{pattern}'" for pattern in patterns)
    reads = _matches("read")
    return f"(!({reads} AND NOT {LISTS}) OR ({fit})) AND !({reads} AND {LISTS})"


def writing(pattern: str, *, lists: bool) -> str:
    """To lay down blobs of such paths; and with `lists`, to see which are there."""
    reads, fit = _matches("read"), f"{PATH} StringLike '{pattern}'"
    # What is laid down anew Azure may judge by either ("Put Blob", permissions).
    writes = " AND ".join(f"(!({_matches(action)}) OR {fit})" for action in ("write", "add/action"))
    never = " AND ".join(f"!({_matches(action)})" for action in ("delete", "move/action"))
    listing = f"(!({reads}) OR {PREFIX} StringLike '{pattern}')" if lists else f"!({reads} AND {LISTS})"
    return f"{writes} AND !({reads} AND NOT {LISTS}) AND {listing} AND {never}"


def _matches(action: str) -> str:
    return f"ActionMatches{{'{BLOBS}/{action}'}}"
