"""Roles on Azure: none that may do everything, none over the whole subscription, and pods come by their own token."""

import re
from collections.abc import Iterator
from typing import Any

from fleet import autoscaler, buckets, fleet_metrics, issuers, joining, recorder, team_storage
from fleet.azure.ids import BLOB_CONTRIBUTOR as WRITER
from fleet.azure.ids import BLOB_READER as READER
from fleet.azure.ids import SECRETS_OFFICER as OFFICER
from fleet.azure.ids import subscription
from fleet.model import Fleet
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, values
from .role_conditions import Told, told

ASSIGNMENT = "azure-native:authorization:RoleAssignment"
DEFINITION = "azure-native:authorization:RoleDefinition"
# Type → what is judged of it.
ASSIGNED = {ASSIGNMENT: ("roleDefinitionId", "scope")}
DEFINED = {DEFINITION: ("permissions.actions", "permissions.dataActions", "assignableScopes")}
TRUSTED = {"azure-native:managedidentity:FederatedIdentityCredential": ("subject", "audiences", "issuer")}
# "Azure built-in roles": who has one may do everything, or give himself what he lacks.
TOO_MUCH = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
# Over an account each opens every folder, and over a vault every secret: a condition or a scope says which is meant.
BLOBS = {
    READER: "Storage Blob Data Reader",
    WRITER: "Storage Blob Data Contributor",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
}
SECRETS = {
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    OFFICER: "Key Vault Secrets Officer",
    "00482a5a-887f-4fb3-b363-3b7fe8e74483": "Key Vault Administrator",
}
# "Azure role assignment condition format": the name of a blob, and what it must be like.
FOLDERS = re.compile(r"blobs:path\]\s+String(?:Equals|Like)(?:IgnoreCase)?\s+'([^'*?]+/)[^']*'", re.IGNORECASE)
# Whatever a role has of these is a way to everything.
FORBIDDEN = re.compile(r"\*|\*/.*|Microsoft\.Authorization/(?!.*/read$).*|[^/]+/\*", re.IGNORECASE)
# By itself, and over one of these: metrics of a whole group tell what others do in it.
METRICS = "microsoft.insights/metrics/read"
MEASURED = re.compile(r"/.+/providers/Microsoft\.Network/virtualNetworkGateways/[^/]+", re.IGNORECASE)
AUDIENCE = "api://AzureADTokenExchange"
NARROW = "Name what is needed: a role for one thing, over one thing"
RECORDS = (
    "Take components/addons/azure/recorder_role.py's condition: the cluster's own records, and its audit log to read; "
    "or team_roles.py's"
)
TRUST = "Trust one issuer of the fleet, one service account, one audience"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    if world.fleet.azure is None:
        return
    own = [item for item in found if item.type == DEFINITION]
    for item in of_types(found, ASSIGNED):
        yield from _role(item, own)
        yield from _narrow(item, world.fleet)
        yield from _records(item, world.fleet)
        yield from _assigned(item, own, world.fleet)
        yield from _measured(item, own)
    for item in of_types(found, DEFINED):
        yield from _defined(item, world.fleet)
    for item in of_types(found, TRUSTED):
        yield from _trusted(item, world.fleet)


def _role(item: Item, own: list[Item]) -> Iterator[Finding]:
    role = item.props.get("roleDefinitionId")
    if role is UNKNOWN and own:
        return  # one that the stack defines, which is judged by itself
    if role is UNKNOWN:
        yield undecidable(item, "roleDefinitionId")
    elif name := TOO_MUCH.get(str(role).rpartition("/")[2].lower()):
        yield finding(item, "roleDefinitionId", f"it gives the role {name}", NARROW)


def _narrow(item: Item, fleet: Fleet) -> Iterator[Finding]:
    """A machine or a team reads its own: the account and the vault are everybody's."""
    role = str(item.props.get("roleDefinitionId")).rpartition("/")[2].lower()
    scope, condition = item.props.get("scope"), item.props.get("condition")
    if role in BLOBS and condition is UNKNOWN:
        yield undecidable(item, "condition")
    elif (
        role in BLOBS
        and not FOLDERS.search(str(condition or ""))
        and not _of_issuer(str(scope), fleet)
        and not (role == READER and _lists(str(condition or ""), str(scope), fleet))
        and not _of_people(item, role, fleet)
    ):
        what = f"{BLOBS[role]} opens all that lies in {scope}"
        yield finding(item, "condition", what, "Add a condition on blobs:path, such as StringLike 'teams/NAME/*'")
    elif (
        role in SECRETS
        and not unknown_in(scope)
        and "/secrets/" not in str(scope)
        and not _of_people(item, role, fleet)
    ):
        what = f"{SECRETS[role]} opens all that {scope} keeps"
        yield finding(item, "scope", what, "Scope it to one secret: VAULT/secrets/NAME")


def _records(item: Item, fleet: Fleet) -> Iterator[Finding]:
    """A recorder writes what its cluster's pods did, and nothing else; teams read what is about them."""
    role = str(item.props.get("roleDefinitionId")).rpartition("/")[2].lower()
    condition, scope = str(item.props.get("condition") or ""), str(item.props.get("scope"))
    if role not in BLOBS or not any(f"'{place}/" in condition for place in (recorder.RECORDS, recorder.TEAM_RECORDS)):
        return
    may = told(condition)
    if may is None or not any(may.seen <= own.seen and may.changed <= own.changed for own in _owners(fleet, scope)):
        what = f"the condition is no team's and no recorder's of a cluster at home in {scope}"
        yield finding(item, "condition", what, RECORDS)


def _owners(fleet: Fleet, scope: str) -> Iterator[Told]:
    """Who has to do with records there, and what each may of blobs."""
    for team in fleet.teams:
        folder = f"{team_storage.FOLDER}/{team}/*"
        yield Told(frozenset((folder, recorder.read_by(team))), frozenset((folder,)))
    for name, cluster in fleet.clusters.items():
        if (
            buckets.in_azure(fleet, cluster.region)
            and f"/storageAccounts/{buckets.bucket_name(fleet, cluster.region)}/" in scope
        ):
            own = recorder.written(name)
            yield Told(frozenset((*own, f"audit/{name}/*")), frozenset(own))


def _lists(condition: str, scope: str, fleet: Fleet) -> bool:
    """No blob is read, and names are listed of one cluster's snapshots and of its tested restores where they lie."""
    return any(
        condition == fleet_metrics.condition(*prefixes)
        and f"/storageAccounts/{buckets.bucket_name(fleet, region)}/" in scope
        for cluster in fleet.clusters
        for region, prefixes in fleet_metrics.listed(fleet, cluster).items()
    )


def _of_people(item: Item, role: str, fleet: Fleet) -> bool:
    """Operators keep a region's secrets and its bucket: a group of people, or whoever runs this.

    Machines are told by their kind.
    """
    assert fleet.azure is not None
    who, kind, group = item.props.get("principalId"), item.props.get("principalType"), fleet.azure.operators
    known = isinstance(who, str) and kind != "ServicePrincipal"
    return role in (OFFICER, WRITER) and known and group in (None, who)


def _of_issuer(scope: str, fleet: Fleet) -> bool:
    """Two public documents, and nothing else."""
    return any(f"/storageAccounts/{issuers.bucket(fleet, name)}" in scope for name in fleet.clusters)


def snapshots(found: list[Item], clusters: dict[str, Item], world: World) -> Iterator[Finding]:
    """`clusters` have members of etcd in the stack: some identity there may write each's snapshots, and copies."""
    writers = [item for item in of_types(found, [ASSIGNMENT]) if _writes(item)]
    folders = {folder for item in writers for folder in FOLDERS.findall(str(item.props.get("condition")))}
    for name, item in sorted(clusters.items()):
        known = world.fleet.clusters.get(name)
        wanted = {"snapshots": f"backups/{name}/"}
        if known and known.copies:
            wanted["copies of snapshots"] = f"copies/{known.region}/{name}/"
        for what, folder in wanted.items():
            if folder not in folders:
                remedy = f"Give its machines {BLOBS[WRITER]} with a condition on blobs:path StringLike '{folder}*'"
                yield finding(item, "tags", f"{what} are off: no machine of {name} may write them", remedy)


def _writes(item: Item) -> bool:
    return str(item.props.get("roleDefinitionId")).rpartition("/")[2].lower() == WRITER


def _measured(item: Item, own: list[Item]) -> Iterator[Finding]:
    """A role that reads metrics is given over one VPN gateway, and can do nothing else there."""
    defined = _defining(str(item.props.get("roleDefinitionId")).rpartition("/")[2].lower(), own)
    actions = [str(one).lower() for one in values(defined.props, "permissions.actions")] if defined else []
    scope = item.props.get("scope")
    if METRICS not in actions or unknown_in(scope):
        return
    if len(actions) > 1:
        yield finding(item, "roleDefinitionId", f"it gives metrics with {len(actions) - 1} rights more", NARROW)
    if not MEASURED.fullmatch(str(scope)):
        yield finding(item, "scope", f"it gives all metrics of {scope}", "Scope it to one VPN gateway")


def _defining(role: str, own: list[Item]) -> Item | None:
    """What defines a role of the stack's own, by the last part of its id in small letters."""
    return next((one for one in own if str(one.props.get("roleDefinitionId")).lower() == role), None)


def _assigned(item: Item, own: list[Item], fleet: Fleet) -> Iterator[Finding]:
    """Some of what one may look at, such as quotas, is the subscription's: a role of ours that only reads has that."""
    scope, role = item.props.get("scope"), str(item.props.get("roleDefinitionId")).rpartition("/")[2].lower()
    if scope != subscription(fleet):
        yield from _scope(item, "scope", scope, fleet)
        return
    if item.props.get("roleDefinitionId") is UNKNOWN:
        yield undecidable(item, "roleDefinitionId")._replace(path="scope")
        return
    defined = _defining(role, own)
    actions = [*values(defined.props, "permissions.actions")] if defined else []
    data = [*values(defined.props, "permissions.dataActions")] if defined else []
    if not actions or any(data) or not all(str(action).endswith("/read") for action in actions):
        what = f"scope {scope} is the whole subscription, and the role is not one of the stack's own that only reads"
        yield finding(item, "scope", what, NARROW)


def _scope(item: Item, path: str, scope: Any, fleet: Fleet) -> Iterator[Finding]:
    """Within a group of the fleet: what names another group, or all of them, is more than ours."""
    if unknown_in(scope):
        yield undecidable(item, path)
        return
    groups = [buckets.resource_group(fleet, name) for name, one in fleet.regions.items() if one.cloud == "azure"]
    begin = f"{subscription(fleet)}/resourceGroups/"
    scope_prefix = f"{str(scope).lower()}/"
    if not any(scope_prefix.startswith(f"{begin}{group}/".lower()) for group in groups):
        what = f"{path} {scope} lies in no resource group of the fleet"
        yield finding(item, path, what, f"Scope it to what is in {', '.join(sorted(groups))}")


def _defined(item: Item, fleet: Fleet) -> Iterator[Finding]:
    for path in ("permissions.actions", "permissions.dataActions"):
        for action in values(item.props, path):
            if unknown_in(action):
                yield undecidable(item, path)
            elif action and FORBIDDEN.fullmatch(str(action)):
                yield finding(item, path, f"{path} has {action}, which is a way to everything", NARROW)
    for scope in [*values(item.props, "assignableScopes")] or [None]:
        if scope != subscription(fleet):  # where it may be given; what is given is judged there
            yield from _scope(item, "assignableScopes", scope, fleet)


def _trusted(item: Item, fleet: Fleet) -> Iterator[Finding]:
    teams = (team_storage.subject(team) for team in fleet.teams)
    subjects = {autoscaler.SUBJECT, recorder.SUBJECT, joining.SUBJECT, fleet_metrics.SUBJECT, *teams}
    subject, audiences, issuer = (item.props.get(path) for path in ("subject", "audiences", "issuer"))
    if unknown_in(subject):
        yield undecidable(item, "subject")
    elif subject not in subjects:
        others = "the autoscaler's, the recorder's, the joining service's or the fleet metrics'"
        whose = f"no team's {team_storage.ACCOUNT}, and not {others}"
        yield finding(item, "subject", f"subject {subject} is {whose}", TRUST)
    if unknown_in(audiences):
        yield undecidable(item, "audiences")
    elif audiences != [AUDIENCE]:
        yield finding(item, "audiences", f"audiences {audiences} is not {AUDIENCE} alone", TRUST)
    ours = [issuers.url(fleet, name) for name in fleet.clusters]
    if unknown_in(issuer):
        yield undecidable(item, "issuer")
    elif issuer not in ours:
        yield finding(item, "issuer", f"issuer {issuer} is of no cluster of the fleet", TRUST)
