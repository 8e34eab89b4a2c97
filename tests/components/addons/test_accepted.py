"""Every manifest is one that the real API server takes, field by field, and takes again without a change."""

from typing import Any

import pytest

from components.addons.spec import AddOnsSpec
from local.providers.kubernetes.api import ApiError
from tests.components.addons import bed
from tests.support.apiserver import Server


def ours(live: dict[str, Any]) -> dict[str, Any]:
    """An object without what controllers write; when we last changed a field stands in the managed fields."""
    (entry,) = [one for one in live["metadata"]["managedFields"] if one["manager"] == "addons"]
    return {**{key: value for key, value in live.items() if key not in ("status", "metadata")}, "changed": entry}


def test_every_manifest_is_accepted_strictly_and_twice(kube: Server, example: AddOnsSpec) -> None:
    apply = bed.Applying(kube)
    made = bed.every(example)
    # What is in a namespace, or of a kind that is defined, can't be tried without.
    for manifest in [one for one in made if one["kind"] in ("Namespace", "CustomResourceDefinition")]:
        apply(manifest)
    for manifest in made:
        apply(manifest, dry=True)
    first = {apply.path(manifest): ours(apply(manifest)) for manifest in made}
    assert len(first) == len(made), "two manifests are of one object"
    assert {apply.path(manifest): ours(apply(manifest)) for manifest in made} == first


def test_validation_is_strict(kube: Server, example: AddOnsSpec) -> None:
    """A misspelt field would pass otherwise, and be dropped without a word."""
    manifest = bed.named(bed.every(example), "RuntimeClass", "nvidia")
    with pytest.raises(ApiError, match=r"field not declared|unknown field"):
        bed.Applying(kube)({**manifest, "handlr": "x"}, dry=True)
