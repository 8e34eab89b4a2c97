"""Subscriptions, and resource groups, which are made, listed and deleted with all that is in them."""

from typing import Any

from . import ids, regions
from .errors import ArmError, bad_request
from .kinds import World

GROUP = "Microsoft.Resources/resourceGroups"


def subscription(id_: str, tenant: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{id_}",
        "subscriptionId": id_,
        "tenantId": tenant,
        "displayName": "Landbridge local cloud",
        "state": "Enabled",
        "subscriptionPolicies": {"spendingLimit": "Off"},
        "authorizationSource": "RoleBased",
        "managedByTenants": [],
    }


def get(world: World, id_: str) -> dict[str, Any]:
    """A group's body. Raises ArmError."""
    found = world.store.groups.get(id_.lower())
    if found is None:
        name = id_.split("/")[4]
        raise ArmError(404, "ResourceGroupNotFound", f"Resource group '{name}' could not be found.")
    return found


def put(world: World, id_: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    if old := world.store.groups.get(id_.lower()):
        require(world, id_)
    place = ids.location(str(body.get("location", "")))
    if not place or place not in regions.NAMES:
        raise bad_request("LocationNotAvailableForResourceGroup", f"The provided location '{place}' is not available.")
    if old and old["location"] != place:
        message = (
            f"Invalid resource group location '{place}'. The group already exists in location '{old['location']}'."
        )
        raise ArmError(409, "InvalidResourceGroupLocation", message)
    if strange := sorted(body.keys() - {"location", "tags", "managedBy", "properties", "name", "id", "type"}):
        raise bad_request(
            "InvalidRequestContent", f"Could not find member '{strange[0]}' on object of type 'ResourceGroup'."
        )
    name = id_.split("/")[4]
    made = {"id": id_, "name": name, "type": GROUP, "location": place, "properties": {"provisioningState": "Succeeded"}}
    if body.get("tags") is not None:
        made["tags"] = body["tags"]
    world.store.groups[id_.lower()] = {**(old or {}), **made, **({"id": old["id"]} if old else {})}
    return (200 if old else 201), world.store.groups[id_.lower()]


def patch(world: World, id_: str, body: dict[str, Any]) -> dict[str, Any]:
    require(world, id_)
    found = get(world, id_)
    if "tags" in body:
        found["tags"] = body["tags"]
    return found


def listing(world: World, subscription_id: str) -> list[dict[str, Any]]:
    beginning = f"/subscriptions/{subscription_id}/".lower()
    return [one for key, one in world.store.groups.items() if key.startswith(beginning)]


def mark_deleting(world: World, id_: str) -> None:
    get(world, id_)["properties"]["provisioningState"] = "Deleting"


def require(world: World, id_: str) -> None:
    """Refuses what would be put into a group that is not there. Raises ArmError."""
    if get(world, id_)["properties"]["provisioningState"] == "Deleting":
        message = (
            f"The resource group '{id_.split('/')[4]}' is in deprovisioning state and cannot perform this operation."
        )
        raise ArmError(409, "ResourceGroupBeingDeleted", message)
