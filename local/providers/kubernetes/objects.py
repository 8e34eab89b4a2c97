"""Objects as programs write them, as the API takes them, and as they stand in state."""

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..codec import UNKNOWN, Properties

PACKAGE = "kubernetes"
PREFIX = "pulumi.com/"
AUTONAMED, SKIP_AWAIT, WAIT_FOR = PREFIX + "autonamed", PREFIX + "skipAwait", PREFIX + "waitFor"
TIMEOUT, PATCH_FORCE = PREFIX + "timeoutSeconds", PREFIX + "patchForce"
FIELD_MANAGER, PROPAGATION = PREFIX + "patchFieldManager", PREFIX + "deletionPropagationPolicy"
ANNOTATIONS = {AUTONAMED, SKIP_AWAIT, WAIT_FOR, TIMEOUT, PATCH_FORCE, FIELD_MANAGER, PROPAGATION}
# What the server alone sets: the official provider takes them out of manifests too.
READ_ONLY = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)
# SDKs can't name a property with dashes.
DASHED = {
    name.replace("-", "_"): name
    for name in (
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    )
}
UNDERSCORED = {dashed: name for name, dashed in DASHED.items()}
# Sets that the API shows one by one; nobody makes one.
LISTS = "List"


class Type(NamedTuple):
    """A token's parts: kubernetes:apps/v1:Deployment, kubernetes:core/v1:NamespacePatch."""

    api_version: str
    kind: str
    patch: bool


def type_of(token: str, inputs: Mapping[str, Any]) -> Type | None:
    """None for tokens that are no API objects: charts and other components."""
    _, module, name = token.split(":")
    group, slash, version = module.partition("/")
    if not slash or not version or group in ("helm.sh", "kustomize", "yaml"):
        return None
    api_version = version if group == "core" else module
    kind = inputs.get("kind")
    patch = name.endswith("Patch") and kind == name.removesuffix("Patch")
    return Type(api_version, name.removesuffix("Patch") if patch else name, patch)


def meta(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    found = thing.get("metadata")
    return found if isinstance(found, dict) else {}


def name_of(thing: Mapping[str, Any]) -> str:
    return str(meta(thing).get("name") or "")


def namespace_of(thing: Mapping[str, Any]) -> str:
    return str(meta(thing).get("namespace") or "")


def annotation(thing: Mapping[str, Any], name: str) -> str:
    annotations = meta(thing).get("annotations")
    return str(annotations.get(name, "")) if isinstance(annotations, dict) else ""


def flag(thing: Mapping[str, Any], name: str) -> bool:
    return annotation(thing, name) == "true"


def id_of(thing: Mapping[str, Any]) -> str:
    namespace = namespace_of(thing)
    return f"{namespace}/{name_of(thing)}" if namespace else name_of(thing)


def parse_id(id_: str) -> tuple[str, str]:
    """Namespace and name. ids are `name` or `namespace/name`."""
    namespace, _, name = id_.rpartition("/")
    return namespace, name


def at_least_names(thing: Mapping[str, Any]) -> str:
    """How errors call an object: Deployment kube-system/coredns."""
    return f"{thing.get('kind') or 'object'} {id_of(thing) or '(no name yet)'}"


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The same with its keys renamed, wherever they are."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value


def normal(inputs: Properties) -> Properties:
    """A manifest as the API takes it: the engine's own keys and what only the server sets are left out."""
    thing = renamed({key: value for key, value in inputs.items() if not key.startswith("__")}, DASHED)
    if isinstance(thing.get("metadata"), dict):
        thing["metadata"] = {key: value for key, value in thing["metadata"].items() if key not in READ_ONLY}
    return dict(thing)


def as_state(live: Mapping[str, Any], manager: str, applied: Mapping[str, Any]) -> Properties:
    """Outputs: the object as it is, and for us alone whose manager it has and what that manager applied.

    Without managedFields: every writer changes them, which would fill each refresh with noise.
    """
    metadata = {key: value for key, value in meta(live).items() if key != "managedFields"}
    return {
        **renamed({**live, "metadata": metadata}, UNDERSCORED),
        "__fieldManager": manager,
        "__applied": dict(applied),
    }


def live_in(state: Mapping[str, Any]) -> Properties:
    """The object in a state."""
    return dict(renamed({key: value for key, value in state.items() if not key.startswith("__")}, DASHED))


def foreseen(dry: Properties, inputs: Properties) -> Properties:
    """Outputs of a dry run, with what only the real run can tell marked unknown."""
    expected = copy.deepcopy(dry)
    expected.pop("status", None)
    for name in ("uid", "resourceVersion", "creationTimestamp", "generation"):
        expected["metadata"][name] = UNKNOWN
    expected["metadata"].pop("managedFields", None)
    if expected.get("kind") == "Service" and expected.get("apiVersion") == "v1":
        spec = inputs.get("spec") or {}
        # A dry run draws an address, and gives it back.
        for name in ("clusterIP", "clusterIPs"):
            if name in expected["spec"] and name not in spec and spec.get("clusterIP") != "None":
                expected["spec"][name] = UNKNOWN
    return dict(renamed(expected, UNDERSCORED))
