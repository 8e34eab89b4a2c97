"""Tags of resources and groups, changed one by one beside what has them."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.resource.resources.models import TagsResource

from .machines import LOCATION
from .support import LocalAzure, assert_model


@pytest.fixture
def gallery(azure: LocalAzure, place: str) -> str:
    path = f"{place}/providers/Microsoft.Compute/galleries/images"
    azure.put(path, {"location": LOCATION, "tags": {"Kept": "as it is", "one": "1"}})
    return path


def changed(azure: LocalAzure, scope: str, operation: str, **tags: str) -> dict[str, str]:
    client = azure.client(ResourceManagementClient)
    told = {"operation": operation, "properties": {"tags": tags}}
    return dict(client.tags.begin_update_at_scope(scope, told).result().properties.tags)


def test_a_merge_changes_what_it_names_alone(azure: LocalAzure, gallery: str, place: str) -> None:
    assert changed(azure, gallery, "Merge", ONE="2", two="2") == {"Kept": "as it is", "ONE": "2", "two": "2"}
    assert azure.ask("GET", gallery).json()["tags"] == {"Kept": "as it is", "ONE": "2", "two": "2"}
    assert changed(azure, gallery, "Delete", one="", two="3") == {"Kept": "as it is", "two": "2"}
    assert changed(azure, gallery, "Replace", three="3") == {"three": "3"}
    assert changed(azure, place, "Merge", of="a group") == {"of": "a group"}
    assert azure.ask("GET", place).json()["tags"] == {"of": "a group"}
    path = f"{gallery}/providers/Microsoft.Resources/tags/default"
    assert_model(TagsResource, azure.ask("GET", path).json())


def test_what_azure_refuses_is_refused(azure: LocalAzure, gallery: str) -> None:
    cases: list[tuple[str, dict[str, str], str]] = [
        ("Wish", {}, "InvalidTagsPatchOperation"),
        ("Merge", {"a/b": "1"}, "InvalidTagNameCharacters"),
        ("Merge", {"a": "x" * 257}, "InvalidTagValueLength"),
        ("Merge", {f"tag-{n}": "1" for n in range(50)}, "InvalidTagsCount"),
    ]
    for operation, tags, code in cases:
        with pytest.raises(HttpResponseError, match=code):
            changed(azure, gallery, operation, **tags)
    with pytest.raises(HttpResponseError, match="ResourceNotFound"):
        changed(azure, f"{gallery}-other", "Merge", a="1")
    told: Any = azure.ask("GET", gallery).json()["tags"]
    assert told == {"Kept": "as it is", "one": "1"}
