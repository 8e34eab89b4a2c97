"""Where Azure's own models put each property on the wire: beside `properties`, or in it.

The SDK of Pulumi flattens what ARM nests (x-ms-client-flatten). Azure's Python models keep the nesting, in two forms of
generated code: older ones have an `_attribute_map` with dotted keys, newer ones annotated fields.
"""

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..sdk_types import loads

# What stands beside `properties` at the top of any resource of ARM.
ENVELOPE = frozenset(
    (
        *("id", "name", "type", "etag", "location", "tags", "sku", "identity", "zones", "kind", "plan", "managedBy"),
        *("extendedLocation", "systemData"),
    )
)
# What Pulumi's SDK calls otherwise than the wire does: (model, the SDK's name) → path on the wire.
RENAMED: Mapping[tuple[str, str], str] = {
    ("StorageAccountCreateParameters", "networkRuleSet"): "properties.networkAcls",
    ("StorageAccount", "networkRuleSet"): "properties.networkAcls",
    ("StorageAccountCreateParameters", "enableHttpsTrafficOnly"): "properties.supportsHttpsTrafficOnly",
    ("StorageAccount", "enableHttpsTrafficOnly"): "properties.supportsHttpsTrafficOnly",
    ("StorageAccountCreateParameters", "enableNfsV3"): "properties.isNfsV3Enabled",
    ("StorageAccount", "enableNfsV3"): "properties.isNfsV3Enabled",
    ("Encryption", "encryptionIdentity"): "identity",
    ("EncryptionIdentity", "encryptionUserAssignedIdentity"): "userAssignedIdentity",
    ("EncryptionIdentity", "encryptionFederatedIdentityClientId"): "federatedIdentityClientId",
    ("IPRule", "iPAddressOrRange"): "value",
    ("VirtualNetworkRule", "virtualNetworkResourceId"): "id",
    ("IpamPoolPrefixAllocation", "id"): "pool.id",
    ("RoleDefinition", "roleType"): "properties.type",
    ("SecretAttributes", "expires"): "exp",
    ("SecretAttributes", "notBefore"): "nbf",
    ("KeyAttributes", "expires"): "exp",
    ("KeyAttributes", "notBefore"): "nbf",
    ("KeyProperties", "releasePolicy"): "release_policy",
    ("Key", "releasePolicy"): "properties.release_policy",
}

# The same wherever it stands.
ALWAYS_RENAMED = {"odataType": "odata.type"}


class Place(NamedTuple):
    """`path` leads from the object that holds a property to it. `model` is of what stands there, or of its items.

    mapping: ARM has an object there whose keys are the items, where the SDK may take a list.
    fixed: what is said there when the resource is made can't be said otherwise later (x-ms-mutability).
    """

    path: tuple[str, ...]
    model: type | None = None
    mapping: bool = False
    fixed: bool = False


@loads
def model(name: str) -> type:
    """The class that "network.VirtualNetwork" or "msi.v2024_11_30.Identity" names, below azure.mgmt."""
    package, _, found = name.rpartition(".")
    cls: type = getattr(importlib.import_module(f"azure.mgmt.{package}.models"), found)
    return cls


@loads
def places(of: type) -> Mapping[str, Place]:
    """By a property's name, and by its dotted path, in small letters: each SDK spells abbreviations in its own way."""
    direct = {one.path: one for one in (_old(of) if hasattr(of, "_attribute_map") else _new(of))}
    for path, one in list(direct.items()):
        if path in (("properties",), ("pool",)) and one.model:
            within = places(one.model).values()
            direct |= {(*path, *inner.path): inner._replace(path=(*path, *inner.path)) for inner in within}
    # What stands higher up takes the plain name.
    plain = {path[-1].lower(): direct[path] for path in sorted(direct, key=len, reverse=True) if path[0] != "pool"}
    return {".".join(path).lower(): one for path, one in direct.items()} | plain


def known(of: type, name: str) -> Place | None:
    """Where the SDK's `name` stands in a model; None when the model does not have it."""
    return places(of).get(RENAMED.get((of.__name__, name), name).lower())


def place(of: type | None, name: str, *, top: bool = False) -> Place:
    """As `known`; for what no model tells of, where it stands in ARM's resources in general."""
    if of is not None and (found := known(of, name)):
        return found
    if name in ALWAYS_RENAMED:
        return Place((ALWAYS_RENAMED[name],))
    return Place(("properties", name) if top and name not in ENVELOPE else (name,))


def _old(of: Any) -> Iterator[Place]:
    home = importlib.import_module(of.__module__)
    for attribute in of._attribute_map.values():
        path = tuple(part.replace("\\", "") for part in re.split(r"(?<!\\)\.", attribute["key"]))
        inner = getattr(home, attribute["type"].strip("[]{}"), None)
        yield Place(path, inner if hasattr(inner, "_attribute_map") else None, attribute["type"].startswith("{"))


def _new(of: Any) -> Iterator[Place]:
    home = importlib.import_module(of.__module__)
    of.__new__(of)  # fills in _attr_to_rest_field
    lines = (vars(cls).get("__annotations__", {}) for cls in reversed(of.__mro__))
    notes = {name: str(note) for line in lines for name, note in line.items()}
    for name, field in of._attr_to_rest_field.items():
        named = re.search(r"_models\.(\w+)", notes[name])
        inner = getattr(home, named[1], None) if named else None
        fixed = {"create", "read"} == set(field._visibility or ())
        yield Place(
            (field._rest_name,), inner if hasattr(inner, "as_dict") else None, "dict[" in notes[name].lower(), fixed
        )
