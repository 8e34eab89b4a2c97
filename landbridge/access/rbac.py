"""Who may do what in a cluster, as manifests: pure functions of the fleet.

Rights go to people by name, never to their team's group: a certificate can't be revoked, so what must end at once is
the binding. The team stands in every certificate all the same, for the audit log.
"""

from typing import Any

from fleet.maintenance import GROUP, PLURAL
from fleet.model import Fleet
from fleet.people import ADMINS
from fleet.team_storage import namespace

PERSON, TEAM, EXPIRES = "landbridge/person", "landbridge/team", "landbridge/expires"
MANAGED = {"app.kubernetes.io/managed-by": "landbridge"}
LOOK = "landbridge:look"
Manifest = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"


def admins() -> Manifest:
    """What makes the admin credential one: RBAC, which can be taken away again."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": ADMINS, "labels": MANAGED},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": ADMINS}],
    }


def teams(fleet: Fleet) -> list[Manifest]:
    """A namespace a team, and what everybody may look at besides."""
    spaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace(team), "labels": {**MANAGED, TEAM: team}},
        }
        for team in fleet.teams
    ]
    look = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": LOOK, "labels": MANAGED},
        "rules": [
            {"apiGroups": [""], "resources": ["nodes", "namespaces"], "verbs": ["get", "list", "watch"]},
            {
                "apiGroups": ["scheduling.k8s.io", "storage.k8s.io"],
                "resources": ["priorityclasses", "storageclasses"],
                "verbs": ["get", "list", "watch"],
            },
            # What they use, where the cluster has metrics-server.
            {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes"], "verbs": ["get", "list"]},
            # What teams hold, and not who of them runs what.
            {"apiGroups": ["kueue.x-k8s.io"], "resources": ["clusterqueues"], "verbs": ["get", "list", "watch"]},
            # What is planned on machines. Of its time alone they may write: components/addons/maintenance_kind.py.
            {"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["get", "list", "watch", "patch"]},
        ],
    }
    return [*spaces, look]


def person(fleet: Fleet, name: str, expires: str) -> list[Manifest]:
    """A person's bindings: to edit in their team's namespace and to look around; the owner team administers."""
    team = fleet.people[name].team
    labels = {**MANAGED, PERSON: name, TEAM: team}
    meta = {"name": f"landbridge:{name}", "labels": labels, "annotations": {EXPIRES: expires}}
    subject = {"apiGroup": RBAC, "kind": "User", "name": name}
    everywhere = "cluster-admin" if team == fleet.owner else LOOK
    bindings: list[Manifest] = [
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            # A binding's role can't be changed: one that changes teams gets another one.
            "metadata": {**meta, "name": f"landbridge:{name}:{everywhere.removeprefix('landbridge:')}"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": everywhere},
            "subjects": [subject],
        }
    ]
    if team != fleet.owner:
        bindings.append(
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": "RoleBinding",
                "metadata": {**meta, "namespace": namespace(team)},
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "edit"},
                "subjects": [subject],
            }
        )
    return bindings
