"""MutatingAdmissionPolicies (v1 since Kubernetes 1.36): what admission changes on new things, without a webhook.

A patch's value may be an object or an empty list: a list with objects in it makes kube-apiserver 1.36 panic, as
`ObjectVal.ConvertToNative` gives a Struct where lists want a Value (apiserver, pkg/cel/mutation/dynamic).
"""

from fleet.kubernetes_versions import mutates_by_beta

from .manifests import Manifest, meta

GROUP = "admissionregistration.k8s.io"
KINDS = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")


def policy(
    addon: str,
    name: str,
    made: tuple[str, str],
    conditions: dict[str, str],
    variables: dict[str, str],
    patch: str,
    selector: Manifest | None = None,
) -> list[Manifest]:
    """For new things: `made` is their group and resource, `patch` gives a list of JSON patches. With its binding."""
    group, resource = made
    new = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    where = {"namespaceSelector": selector} if selector else {}
    return [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": KINDS[0],
            "metadata": meta(name, addon, ""),
            "spec": {
                "failurePolicy": "Fail",
                "reinvocationPolicy": "Never",
                "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [new], **where},
                "matchConditions": [{"name": key, "expression": text} for key, text in conditions.items()],
                "variables": [{"name": key, "expression": text} for key, text in variables.items()],
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
            },
        },
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": KINDS[1],
            "metadata": meta(name, addon, ""),
            "spec": {"policyName": name},
        },
    ]


def served(manifest: Manifest, kubernetes: str) -> Manifest:
    """As that version calls it: for anything but these policies that is what it is called."""
    if manifest["kind"] in KINDS and mutates_by_beta(kubernetes):
        return {**manifest, "apiVersion": f"{GROUP}/v1beta1"}
    return manifest


def texts(values: tuple[str, ...]) -> str:
    """A list of texts in CEL."""
    return "[" + ", ".join(f"'{value}'" for value in values) + "]"
