"""A broken link ends no pod of a site and no pod with GPUs: admission lets them stay on a node that is out of sight.

Kubernetes gives every pod five minutes on such a node, and that is what is taken back here; its owner may have it
again. A MutatingAdmissionPolicy does it (v1 since Kubernetes 1.36): no webhook that could be away itself.
"""

from components.pools import labels

from .admission import policy, texts
from .manifests import Manifest
from .spec import AddOnsSpec

ADDON = "tolerations"
STAYS, ONE, TEAMS = "landbridge-stays", "landbridge-one-at-a-time", "landbridge-team-nodes"
PODS, JOBS = ("", "pods"), ("batch", "jobs")
TOLERATES = {"tolerates-something": "has(object.spec.tolerations)"}
# On a pod: "true" gives it Kubernetes' five minutes back.
MAY_LEAVE = "landbridge.dev/may-leave"
GONE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TEAM = "landbridge/team"
# What a pod may name a place by.
PLACES = (labels.PLACE, labels.ZONE, labels.REGION)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [*stays(spec), *one_at_a_time(spec), *team_nodes()]


def stays(spec: AddOnsSpec) -> list[Manifest]:
    # Those of five minutes stand there already, by a plugin that comes before: without an end they hold for ever.
    # Only parts of the list are patched: see admission.py.
    ends = "'/spec/tolerations/' + string(i) + '/tolerationSeconds'"
    patch = (
        f"object.spec.tolerations.transformList(i, t, t.?key.orValue('') in {texts(GONE)} && has(t.tolerationSeconds), "
        f"JSONPatch{{op: 'remove', path: {ends}}})"
    )
    variables, condition = _stay(spec, "object")
    conditions = {**TOLERATES, "may-not-leave": _may_not_leave("object")}
    return policy(ADDON, STAYS, PODS, conditions, variables, f"({condition}) ? {patch} : []")


def one_at_a_time(spec: AddOnsSpec) -> list[Manifest]:
    """A Job's pod that is told to end out of sight runs on: its place is filled when it has ended, not before."""
    patch = "[JSONPatch{op: 'add', path: '/spec/podReplacementPolicy', value: 'Failed'}]"
    variables, condition = _stay(spec, "object.spec.template")
    conditions = {"may-not-leave": _may_not_leave("object.spec.template")}
    return policy(ADDON, ONE, JOBS, conditions, variables, f"({condition}) ? {patch} : []")


def _stay(spec: AddOnsSpec, pod: str) -> tuple[dict[str, str], str]:
    """Variables about a pod, and whether it stays."""
    sites = texts(spec.sites)
    # Pods that name no place may come to stand on a site's machines without GPUs, where no taint keeps them off.
    anywhere = any(pool.site and not pool.hardware.gpus for pool in spec.pools)
    variables = {
        "gpus": _any_container(pod, "'nvidia.com/gpu' in c.resources.limits"),
        "chosen": f"has({pod}.spec.nodeSelector) ? {pod}.spec.nodeSelector : {{}}",
        "terms": f"{pod}.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
        ".?nodeSelectorTerms.orValue([])",
        "sited": f"{texts(PLACES)}.exists(p, p in variables.chosen && variables.chosen[p] in {sites})"
        " || variables.terms.exists(t, t.?matchExpressions.orValue([]).exists(e, "
        f"e.key in {texts(PLACES)} && e.operator == 'In' && e.values.exists(v, v in {sites})))",
        "placed": f"{texts(PLACES)}.exists(p, p in variables.chosen)",
    }
    return variables, "variables.gpus || variables.sited" + (" || !variables.placed" if anywhere else "")


def _may_not_leave(pod: str) -> str:
    return f"{pod}.?metadata.?annotations[?'{MAY_LEAVE}'].orValue('') != 'true'"


def team_nodes() -> list[Manifest]:
    """Nodes tainted with their owner take that team's pods, without a word of theirs; others would have to ask."""
    team = f"namespaceObject.metadata.labels['{TEAM}']"
    mine = f"{{key: '{labels.OWNER}', operator: 'Equal', value: {team}, effect: 'NoSchedule'}}"
    patch = f"[JSONPatch{{op: 'add', path: '/spec/tolerations/-', value: Object.spec.tolerations{mine}}}]"
    teams = {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}
    return policy(ADDON, TEAMS, PODS, TOLERATES, {}, patch, teams)


def _any_container(pod: str, condition: str) -> str:
    one = f"exists(c, has(c.resources) && has(c.resources.limits) && {condition})"
    return f"{pod}.spec.containers.{one} || {pod}.spec.?initContainers.orValue([]).{one}"
