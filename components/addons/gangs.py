"""Gangs: who asks for all of its machines at once gets all of them in one scaling group, or none.

By upstream's own ProvisioningRequest (autoscaling.x-k8s.io/v1): the class best-effort-atomic-scale-up looks for one
group that has room for every pod that still finds no place. The definition has what releases 1.33 to 1.36 read and
write.
"""

from typing import Any

from .manifests import RBAC, Manifest, meta, rule

GROUP, VERSION, PLURAL = "autoscaling.x-k8s.io", "v1", "provisioningrequests"
CLASS = f"best-effort-atomic-scale-up.{GROUP}"
# On pods, with the request's name: they wait for what it gets, and buy nothing themselves.
CONSUME = f"{GROUP}/consume-provisioning-request"
EDITOR = "landbridge:gangs"

Schema = dict[str, Any]


def _object(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "required": required, "properties": properties}


def _text(most: int) -> Schema:
    return {"type": "string", "maxLength": most}


def _fixed(**schema: Any) -> Schema:
    """A request is another one when what it asks for changes."""
    return {**schema, "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "can't be changed"}]}


def definition(addon: str) -> Manifest:
    pods = _object(
        ["count", "podTemplateRef"],
        count={"type": "integer", "format": "int32", "minimum": 1},
        podTemplateRef=_object(["name"], name=_text(253)),
    )
    details = {"type": "object", "maxProperties": 64, "additionalProperties": _text(32_768)}
    condition = _object(
        ["type", "status", "reason", "message", "lastTransitionTime"],
        type=_text(316),
        status={"type": "string", "enum": ["True", "False", "Unknown"]},
        reason=_text(1024),
        message=_text(32_768),
        lastTransitionTime={"type": "string", "format": "date-time"},
        observedGeneration={"type": "integer", "format": "int64"},
    )
    spec = _object(
        ["podSets", "provisioningClassName"],
        provisioningClassName=_fixed(**_text(253)),
        podSets=_fixed(type="array", minItems=1, maxItems=32, items=pods),
        parameters=_fixed(type="object", maxProperties=100, additionalProperties=_text(255)),
    )
    conditions = {"type": "array", "items": condition, "x-kubernetes-list-type": "map"}
    status = _object(
        [],
        conditions={**conditions, "x-kubernetes-list-map-keys": ["type"]},
        provisioningClassDetails=details,
    )
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": meta(f"{PLURAL}.{GROUP}", addon, space=""),
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": PLURAL,
                "singular": "provisioningrequest",
                "kind": "ProvisioningRequest",
                "listKind": "ProvisioningRequestList",
                "shortNames": ["provreq"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": _object(["spec"], spec=spec, status=status)},
                }
            ],
        },
    }


def editors(addon: str) -> Manifest:
    """Whoever may edit a namespace asks for gangs in it, with the templates of their pods."""
    verbs = ("get", "list", "watch", "create", "update", "patch", "delete")
    aggregated = meta(EDITOR, addon, space="")
    aggregated["labels"] = {**aggregated["labels"], "rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": aggregated,
        "rules": [rule(GROUP, [PLURAL], *verbs), rule("", ["podtemplates"], *verbs)],
    }


def rules() -> list[Manifest]:
    """The autoscaler's. Those that are over for a week it deletes."""
    return [
        rule("", ["podtemplates"], "list", "watch"),
        rule(GROUP, [PLURAL], "list", "watch", "delete"),
        rule(GROUP, [f"{PLURAL}/status"], "update"),
    ]
