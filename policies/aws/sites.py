"""Roles that a site's host takes with its certificate: one host, on one cluster's word, and for its backups alone."""

from collections.abc import Iterator
from typing import Any

from fleet.model import Fleet
from fleet.shares import server_pool
from fleet.world import World

from ..reading import Finding, Item, finding, of_types, undecidable, unknown_in
from .machines import BACKUPS, KEY, LIST, Own, bucket, judge
from .role_documents import ATTACHMENT, ROLE, allowed, asks, attached_to, documents, inlined

# Type → property that says who may take a role.
TAKEN = {ROLE: ("assumeRolePolicy",)}
SERVICE = "rolesanywhere.amazonaws.com"
TAG = "aws:PrincipalTag/x509Subject"
ANCHOR = "aws:SourceArn"
REMEDY = (
    f"Add StringEquals conditions on {TAG}/CN (system:node:HOST.SITE, the site's nfs) and {TAG}/O (system:nodes), and "
    f"ArnEquals on {ANCHOR}, a trust anchor"
)


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    inline, attached = inlined(found), [item for item in found if item.type.startswith(ATTACHMENT)]
    for role in of_types(found, TAKEN):
        trust = role.props.get("assumeRolePolicy")
        if unknown_in(trust):
            yield undecidable(role, "assumeRolePolicy")
            continue
        try:
            given = [statement for statement in allowed(trust) if _anywhere(statement)]
        except ValueError:
            continue  # grants.py says so
        served = {_site(statement, world.fleet) for statement in given}
        if None in served or len(served) > 1:
            what = "IAM Roles Anywhere may give the role to others than one host that serves a site's NFS"
            yield finding(role, "assumeRolePolicy", what, REMEDY)
        elif site := next(iter(served), None):
            own = _of_site(world.fleet, site)
            for arn in (*(role.props.get("managedPolicyArns") or ()), *attached_to(attached, role)):
                what = f"the role of {own.machine} has the policy {arn}"
                yield finding(role, "managedPolicyArns", what, "Write what it needs into the role itself")
            for item, path, document in documents(role, inline):
                yield from judge(item, path, document, own)


def _anywhere(statement: dict[str, Any]) -> bool:
    principal = statement.get("Principal")
    services = principal.get("Service", []) if isinstance(principal, dict) else []
    return SERVICE in (services if isinstance(services, list) else [services])


def _site(statement: dict[str, Any], fleet: Fleet) -> str | None:
    """Whose NFS server alone a statement is about."""
    anchors = (statement.get("Condition") or {}).get("ArnEquals", {})
    anchor = str(anchors.get(ANCHOR) if isinstance(anchors, dict) else "")
    if statement.get("Principal") != {"Service": SERVICE} or not _named(anchor):
        return None
    for name, site in fleet.sites.items():
        node = f"system:node:{site.nfs}.{name}"
        if asks(statement, "StringEquals", f"{TAG}/CN", node) and asks(
            statement, "StringEquals", f"{TAG}/O", "system:nodes"
        ):
            return name
    return None


def _named(anchor: str) -> bool:
    return anchor.startswith("arn:aws:rolesanywhere:") and ":trust-anchor/" in anchor and not {*"*?$"} & {*anchor}


def _of_site(fleet: Fleet, site: str) -> Own:
    """Its place in the bucket of the home of the cluster whose node the host is, under that region's key."""
    pool = server_pool(fleet, site)
    if pool is None or fleet.aws is None:
        return Own(f"the NFS server of {site}", {})
    region = fleet.clusters[fleet.pools[pool].cluster].region
    here, key = bucket(fleet, region), f"arn:aws:kms:{region}:{fleet.aws.account_id}:key/"
    begins: dict[str, tuple[str, ...]] = {BACKUPS: (f"{here}/nfs/{site}/",), LIST: (here,), KEY: (key,)}
    return Own(f"the NFS server of {site}", begins, f"nfs/{site}/*")
