"""What the cluster itself keeps to when machines join and go, as manifests: who may do what, and who is shut out."""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .joining import USER, Joining, table

Manifest = dict[str, Any]
MANAGED = {"app.kubernetes.io/managed-by": "landbridge"}
RBAC, ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
NAME, JOINING_GROUP = "landbridge-joining", "landbridge:joining"
SPACE, DEPARTED, FREEZE = "kube-system", "landbridge-departed", "landbridge-freeze"
POOLS, POOLS_KEY = "landbridge-pools", "pools.json"
# Names the identity in Azure that the service asks as: a ConfigMap (on_machine/azure/arm_azure.py).
AZURE, CLIENT_ID = "landbridge-joining-azure", "client-id"
CLOUDS = "landbridge-joining-clouds"
NODE_USER = "system:node:"
SIGNERS = ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"]
REQUESTS = "certificatesigningrequests"
# Whom kubelets see in an API server: its certificate, components/control_plane/pki.py.
API_SERVER = "kube-apiserver-kubelet-client"


def manifests(known: Iterable[Joining]) -> list[Manifest]:
    """To be applied once the API answers; before that no machine can join."""
    return [*service_config_maps(), *rights(), *policy(), pools(known)]


def pools(known: Iterable[Joining], azure: Mapping[str, object] = MappingProxyType({}), aws_role: str = "") -> Manifest:
    """Whose machines may join: the last to come, for from then on they do. The rest is as joining.table has it."""
    text = json.dumps(table(known, azure, aws_role), indent=2, sort_keys=True) + "\n"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta(POOLS, SPACE), "data": {POOLS_KEY: text}}


def service_config_maps() -> list[Manifest]:
    """What the service writes: it may change these two and make none. Their content is the service's own."""
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta(DEPARTED, SPACE)},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": _meta(NAME, SPACE)},
    ]


def rights() -> list[Manifest]:
    """The service's, and those of a machine that has no certificate yet."""
    service = {"apiGroup": RBAC, "kind": "User", "name": USER}
    # Bootstrap tokens of a site's hosts have the first; a cloud's machines have both.
    newcomers = [{"apiGroup": RBAC, "kind": "Group", "name": name} for name in ("system:bootstrappers", JOINING_GROUP)]
    return [
        *_cluster_role(
            NAME,
            [
                _rule("certificates.k8s.io", REQUESTS, "list", "watch"),
                _rule("certificates.k8s.io", f"{REQUESTS}/approval", "update"),
                {**_rule("certificates.k8s.io", "signers", "approve"), "resourceNames": SIGNERS},
                _rule("", "nodes", "list", "watch", "patch", "delete"),
            ],
            [service],
        ),
        *_role(
            SPACE,
            [
                {**_rule("", "configmaps", "get"), "resourceNames": [FREEZE, DEPARTED, POOLS]},
                {**_rule("", "configmaps", "update"), "resourceNames": [DEPARTED]},
                {**_rule("coordination.k8s.io", "leases", "get", "update"), "resourceNames": [NAME]},
            ],
            service,
        ),
        # Events of nodes stand there.
        *_role("default", [_rule("", "events", "create")], service),
        # A kubelet waits for its certificate by a watch of its own request, as `system:node-bootstrapper` has it.
        *_cluster_role(
            JOINING_GROUP,
            [_rule("certificates.k8s.io", REQUESTS, "create", "get", "list", "watch")],
            newcomers,
        ),
        # Kubelets ask the cluster who may have logs, run things and measure; the role is Kubernetes' own.
        _bound(
            "landbridge-api-servers",
            "system:kubelet-api-admin",
            [{"apiGroup": RBAC, "kind": "User", "name": API_SERVER}],
        ),
    ]


def cloud_rights(*, azure: bool) -> list[Manifest]:
    """Where a cloud has pools and the API machines no right to ask it: the service account whose tokens it takes.

    Of Azure the service reads besides who it is there.
    """
    service = {"apiGroup": RBAC, "kind": "User", "name": USER}
    rules = [
        *([{**_rule("", "configmaps", "get"), "resourceNames": [AZURE]}] if azure else []),
        {**_rule("", "serviceaccounts/token", "create"), "resourceNames": [NAME]},
    ]
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _meta(NAME, SPACE),
        "automountServiceAccountToken": False,
    }
    return [account, *_role(SPACE, rules, service, CLOUDS)]


def policy() -> list[Manifest]:
    """Refuses every write of a node whose machine is gone: its certificate is good for days, it itself no longer."""
    every = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"], "scope": "*"}
    name = f"request.userInfo.username.substring({len(NODE_USER)})"
    return [
        {
            "apiVersion": f"{ADMISSION}/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": _meta(DEPARTED),
            "spec": {
                "failurePolicy": "Fail",
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [every]},
                "matchConditions": [
                    {"name": "a-node", "expression": f"request.userInfo.username.startsWith('{NODE_USER}')"}
                ],
                "validations": [
                    {
                        "expression": f"!has(params.data) || !({name} in params.data)",
                        "messageExpression": f"'the machine ' + {name} + ' has gone: its certificate is worth nothing'",
                        "reason": "Forbidden",
                    }
                ],
            },
        },
        {
            "apiVersion": f"{ADMISSION}/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": _meta(DEPARTED),
            "spec": {
                "policyName": DEPARTED,
                "validationActions": ["Deny"],
                # Were it `Deny`, a ConfigMap deleted by mistake would silence every node of the cluster.
                "paramRef": {"name": DEPARTED, "namespace": SPACE, "parameterNotFoundAction": "Allow"},
            },
        },
    ]


def _meta(name: str, space: str = "") -> Manifest:
    return {"name": name, **({"namespace": space} if space else {}), "labels": MANAGED}


def _rule(group: str, resource: str, *verbs: str) -> Manifest:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def _cluster_role(name: str, rules: list[Manifest], subjects: list[Manifest]) -> list[Manifest]:
    return [
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": _meta(name), "rules": rules},
        _bound(name, name, subjects),
    ]


def _bound(name: str, role: str, subjects: list[Manifest]) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": _meta(name),
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }


def _role(space: str, rules: list[Manifest], subject: Manifest, name: str = NAME) -> list[Manifest]:
    return [
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": _meta(name, space), "rules": rules},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": _meta(name, space),
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
            "subjects": [subject],
        },
    ]
