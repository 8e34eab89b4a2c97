"""A broken link ends no pod of a site and no pod with GPUs: admission lets them stay on a node that is out of sight.

Kubernetes gives every pod five minutes on such a node, and that is what is taken back here; its owner may have it
again. A MutatingAdmissionPolicy does it (v1 since Kubernetes 1.36): no webhook that could be away itself.
"""

from components.pools import labels

from .manifests import Manifest, meta
from .spec import AddOnsSpec

ADDON = "tolerations"
STAYS, TEAMS = "landbridge-stays", "landbridge-team-nodes"
ADMISSION = "admissionregistration.k8s.io"
# On a pod: "true" gives it Kubernetes' five minutes back.
MAY_LEAVE = "landbridge.dev/may-leave"
GONE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TEAM = "landbridge/team"
# What a pod may name a place by.
PLACES = (labels.PLACE, labels.ZONE, labels.REGION)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [*stays(spec), *team_nodes()]


def stays(spec: AddOnsSpec) -> list[Manifest]:
    sites = _list(spec.sites)
    # Pods that name no place may come to stand on a site's machines without GPUs, where no taint keeps them off.
    anywhere = any(pool.site and not pool.hardware.gpus for pool in spec.pools)
    variables = {
        "gpus": _any_container("'nvidia.com/gpu' in c.resources.limits"),
        "chosen": "has(object.spec.nodeSelector) ? object.spec.nodeSelector : {}",
        "terms": "object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
        ".?nodeSelectorTerms.orValue([])",
        "sited": f"{_list(PLACES)}.exists(p, p in variables.chosen && variables.chosen[p] in {sites})"
        " || variables.terms.exists(t, t.?matchExpressions.orValue([]).exists(e, "
        f"e.key in {_list(PLACES)} && e.operator == 'In' && e.values.exists(v, v in {sites})))",
        "placed": f"{_list(PLACES)}.exists(p, p in variables.chosen)",
        "kept": f"object.spec.?tolerations.orValue([]).filter(t, !(t.?key.orValue('') in {_list(GONE)}"
        " && t.?effect.orValue('') == 'NoExecute'))",
    }
    asked = "variables.gpus || variables.sited" + (" || !variables.placed" if anywhere else "")
    stay = ", ".join(f"{_toleration(key, 'NoExecute')}" for key in GONE)
    return _policy(
        STAYS,
        {"not-of-its-own-will": f"object.metadata.?annotations[?'{MAY_LEAVE}'].orValue('') != 'true'"},
        variables,
        # The whole list: the two of five minutes are in it already, by a plugin that comes before.
        f"{asked} ? [JSONPatch{{op: 'add', path: '/spec/tolerations', value: variables.kept + [{stay}]}}] : []",
    )


def team_nodes() -> list[Manifest]:
    """Nodes tainted with their owner take that team's pods, without a word of theirs; others would have to ask."""
    team = f"namespaceObject.metadata.labels['{TEAM}']"
    mine = (
        f"object.spec.?tolerations.orValue([]) + [Object.spec.tolerations{{key: '{labels.OWNER}', operator: 'Equal', "
        f"value: {team}, effect: 'NoSchedule'}}]"
    )
    return _policy(
        TEAMS,
        {"of-a-team": f"namespaceObject.metadata.?labels[?'{TEAM}'].hasValue()"},
        {},
        f"[JSONPatch{{op: 'add', path: '/spec/tolerations', value: {mine}}}]",
    )


def _policy(name: str, conditions: dict[str, str], variables: dict[str, str], patch: str) -> list[Manifest]:
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return [
        {
            "apiVersion": f"{ADMISSION}/v1",
            "kind": "MutatingAdmissionPolicy",
            "metadata": meta(name, ADDON, ""),
            "spec": {
                "failurePolicy": "Fail",
                "reinvocationPolicy": "Never",
                "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [pods]},
                "matchConditions": [{"name": key, "expression": text} for key, text in conditions.items()],
                "variables": [{"name": key, "expression": text} for key, text in variables.items()],
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
            },
        },
        {
            "apiVersion": f"{ADMISSION}/v1",
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": meta(name, ADDON, ""),
            "spec": {"policyName": name},
        },
    ]


def _any_container(condition: str) -> str:
    one = f"exists(c, has(c.resources) && has(c.resources.limits) && {condition})"
    return f"object.spec.containers.{one} || object.spec.?initContainers.orValue([]).{one}"


def _toleration(key: str, effect: str) -> str:
    return f"Object.spec.tolerations{{key: '{key}', operator: 'Exists', effect: '{effect}'}}"


def _list(values: tuple[str, ...]) -> str:
    return "[" + ", ".join(f"'{value}'" for value in values) + "]"
