"""Manifests before anybody is asked: mistakes, names, namespaces, and what the server alone sets."""

from typing import Any

import pytest

from local.providers.codec import UNKNOWN
from local.providers.kubernetes import check
from local.providers.kubernetes.check import Naming
from local.providers.kubernetes.objects import normal, type_of
from local.providers.servicer import ProviderError
from tests.local.providers.kubernetes.bed import manifest

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
NAMING = Naming("c", b"seed")


def annotated(**annotations: str) -> dict[str, Any]:
    named = {f"pulumi.com/{name}": value for name, value in annotations.items()}
    return manifest("v1", "ConfigMap", "c", metadata={"annotations": named})


@pytest.mark.parametrize(
    ("token", "inputs", "path", "text"),
    [
        (CONFIG_MAP, manifest("v1", "ConfigMap", "c", metadata={"lables": {}}), "metadata.lables", "did you mean labels?"),
        ("kubernetes:core/v1:Pod", manifest("v1", "Pod", "p", spec={}), "spec.containers", "required"),
        (CONFIG_MAP, manifest("v2", "ConfigMap", "c"), "apiVersion", "is 'v2', but the resource's type is v1"),
        (CONFIG_MAP, {"metadata": {"generateName": "c-"}}, "metadata.generateName", "give metadata.name"),
        (CONFIG_MAP, annotated(waitFor="Ready"), 'metadata.annotations["pulumi.com/waitFor"]', "write condition=NAME"),
        (CONFIG_MAP, annotated(timeoutSeconds="1m"), 'metadata.annotations["pulumi.com/timeoutSeconds"]', "not a number of seconds"),
        (CONFIG_MAP, annotated(replaceUnready="true"), 'metadata.annotations["pulumi.com/replaceUnready"]', "does not act on it"),
        ("kubernetes:core/v1:ConfigMapList", {"items": []}, "", "make the objects in it"),
        ("kubernetes:core/v1:ConfigMapPatch", {"kind": "ConfigMap"}, "metadata.name", "which object it is for"),
        ("kubernetes:helm.sh/v3:Release", {}, "", "no charts"),
        ("kubernetes:v1:Pod", {}, "", "kubernetes:GROUP/VERSION:KIND"),
    ],
)  # fmt: skip
def test_mistakes(token: str, inputs: dict[str, Any], path: str, text: str) -> None:
    (found,) = check.mistakes(token, inputs)
    assert found.path == path
    assert text in found.reason


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (CONFIG_MAP, manifest("v1", "ConfigMap", "c", data={"a": "b"})),
        (CONFIG_MAP, {"metadata": UNKNOWN}),
        (CONFIG_MAP, annotated(waitFor="condition=Ready", timeoutSeconds="5", skipAwait="true", patchForce="true")),
        # What the API takes, though the SDK's types say text.
        ("kubernetes:core/v1:ResourceQuota", manifest("v1", "ResourceQuota", "q", spec={"hard": {"nvidia.com/gpu": 8}})),
        ("kubernetes:example.com/v1:Gadget", manifest("example.com/v1", "Gadget", "g", spec={"any": 1})),
        ("kubernetes:example.com/v1:AllowList", manifest("example.com/v1", "AllowList", "l")),
        (
            "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
            manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "c", spec={
                "group": "a", "scope": "Cluster", "names": {"kind": "A", "plural": "as"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}),
        ),
    ],
)  # fmt: skip
def test_no_mistakes(token: str, inputs: dict[str, Any]) -> None:
    assert check.mistakes(token, inputs) == []


def filled(news: dict[str, Any], olds: dict[str, Any] | None = None, naming: Naming = NAMING, **rest: Any) -> Any:
    namespaced = rest.get("namespaced", True)
    return check.filled(CONFIG_MAP, olds or {}, news, naming, rest.get("default", ""), lambda _: namespaced)


def test_a_name_is_made_as_the_official_provider_makes_it() -> None:
    named = filled({"data": {"a": "b"}})
    assert named["metadata"]["name"].startswith("c-")
    assert named["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    assert (named["apiVersion"], named["kind"]) == ("v1", "ConfigMap")
    assert filled({}, named)["metadata"] == named["metadata"]  # kept
    assert filled({}, naming=Naming("c", b"", proposed="chosen"))["metadata"]["name"] == "chosen"
    with pytest.raises(ProviderError, match=r"autonaming is disabled.*metadata\.name"):
        filled({}, naming=Naming("c", b"", disabled=True))
    assert filled({"metadata": {"name": UNKNOWN}})["metadata"] == {"name": UNKNOWN}
    assert filled({"metadata": UNKNOWN})["metadata"] == UNKNOWN


def test_the_provider_s_namespace_is_for_kinds_that_live_in_one() -> None:
    mine = manifest("v1", "ConfigMap", "c")
    assert filled(mine, default="n")["metadata"] == {"name": "c", "namespace": "n"}
    assert filled(mine, default="n", namespaced=False)["metadata"] == {"name": "c"}
    assert filled(manifest("v1", "ConfigMap", "c", "own"), default="n")["metadata"]["namespace"] == "own"
    # Nobody to ask: it stays as it was.
    assert filled(mine, default="n", namespaced=None)["metadata"] == {"name": "c"}
    old = manifest("v1", "ConfigMap", "c", "n")
    assert filled(mine, old, default="n", namespaced=None)["metadata"]["namespace"] == "n"


def test_manifests_lose_what_the_server_sets_and_the_sdk_s_spelling() -> None:
    given = {
        "__defaults": [],
        "metadata": {"name": "a", "creationTimestamp": None},
        "x": {"x_kubernetes_map_type": "atomic"},
    }
    assert normal(given) == {"metadata": {"name": "a"}, "x": {"x-kubernetes-map-type": "atomic"}}


def test_tokens() -> None:
    assert type_of("kubernetes:core/v1:Pod", {}) == ("v1", "Pod", False)
    assert type_of("kubernetes:apps/v1:Deployment", {}) == ("apps/v1", "Deployment", False)
    assert type_of("kubernetes:core/v1:NamespacePatch", {"kind": "Namespace"}) == ("v1", "Namespace", True)
    assert type_of("kubernetes:example.com/v1:JsonPatch", {"kind": "JsonPatch"}) == (
        "example.com/v1",
        "JsonPatch",
        False,
    )
    assert type_of("kubernetes:yaml:ConfigGroup", {}) is None
