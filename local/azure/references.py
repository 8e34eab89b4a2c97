"""What a resource's body says of others: that they are there, of the right type, and in the same region."""

import re
from typing import Any

from . import ids
from .errors import ArmError, bad_request
from .ids import Id
from .kinds import Write
from .store import Resource

FULL = re.compile(r"(?i)/subscriptions/[^/]+/(resourceGroups/[^/]+/)?providers/[^/]+(/[^/]+/[^/]+)+")
BUSY = ("Creating", "Updating")


def id_of(write: Write, value: Any, at: str) -> Id:
    """From {"id": ID} or ID. `at` is the property's path, for the error."""
    text = value.get("id") if isinstance(value, dict) else value
    if not isinstance(text, str) or not FULL.fullmatch(text):
        message = (
            f"Property id '{text}' at path '{at}' of {write.id.text} is invalid. Expect fully qualified resource Id "
            "that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'."
        )
        raise bad_request("LinkedInvalidPropertyId", message)
    return ids.parse(text)


def require(write: Write, value: Any, at: str, *types: str, near: bool = True) -> Resource:
    """What is referred to. `near`: it must be in the same region. Raises ArmError, also while it is being written."""
    id_ = id_of(write, value, at)
    found = write.world.store.find(id_)
    if types and id_.type.lower() not in {one.lower() for one in types}:
        found = None
    if found is None or (near and not _near(write, found)):
        message = (
            f"Resource {id_.text} referenced by resource {write.id.text} was not found. Please make sure that the "
            "referenced resource exists, and that both resources are in the same region."
        )
        raise bad_request("InvalidResourceReference", message)
    refuse_busy(write, found)
    return found


def refuse_busy(write: Write, found: Resource) -> None:
    state = found.properties.get("provisioningState")
    if state in BUSY:
        message = (
            f"Cannot proceed with operation because resource {found.id.text} used by resource {write.id.text} is not "
            f"in Succeeded state. Resource is in {state} state."
        )
        inner = ArmError(429, "ReferencedResourceNotProvisioned", message)
        raise ArmError(429, "RetryableError", "A retryable error occurred.", details=[inner])


def place(write: Write, resource: Resource) -> str:
    """Its location, or that of what it is a part of."""
    while not resource.location and resource.id.parent:
        within = write.within if write.within and write.within.id.key == resource.id.parent.key else None
        resource = within or write.world.store.get(resource.id.parent)
    return resource.location


def _near(write: Write, found: Resource) -> bool:
    return ids.same(place(write, write.new), place(write, found))
