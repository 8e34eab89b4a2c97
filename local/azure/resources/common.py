"""What the types of Microsoft.Network have in common: names, zones, enums, lists of named configurations."""

import re
import uuid
from collections.abc import Collection
from ipaddress import IPv4Network
from typing import Any

from .. import ids, regions
from ..errors import ArmError, bad_request, conflict
from ..kinds import Write

NAME = re.compile(r"\w([\w.-]{0,78}\w)?", re.ASCII)
SUB_READ_ONLY = ("etag", "type")


def invalid(message: str) -> ArmError:
    """What the provider says of a body that it cannot take, where it has no code of its own."""
    return bad_request("InvalidRequestFormat", message)


def name(write: Write) -> None:
    if not NAME.fullmatch(write.id.name):
        message = (
            f"Resource name {write.id.name} is invalid. The name can be up to 80 characters long. It must begin with a "
            "word character, and it must end with a word character or with '_'. The name may contain word characters "
            "or '.', '-', '_'."
        )
        raise bad_request("InvalidResourceName", message)


def zones(write: Write) -> list[str]:
    """A resource's, which stay what they were."""
    wanted = write.new.body.get("zones") or []
    if write.old:
        same_zones(write.id.text, write.old.body.get("zones"), wanted)
    allowed = regions.zones(write.new.location)
    if any(one not in allowed for one in wanted) or len(set(wanted)) != len(wanted):
        raise invalid(
            f"{write.id.text}: zones {wanted} are not zones of {write.new.location}, which has {list(allowed)}."
        )
    return list(wanted)


def same_zones(at: str, before: list[str] | None, now: list[str] | None) -> None:
    if sorted(before or ()) != sorted(now or ()):
        message = (
            f"Resource {at} has an existing availability zone constraint {', '.join(before or ()) or 'NoZone'} and the "
            f"request has availability zone constraint {', '.join(now or ()) or 'NoZone'}, which do not match. Zones "
            "cannot be added/updated/removed once the resource is created."
        )
        raise bad_request("ResourceAvailabilityZonesCannotBeModified", message)


def sku(write: Write, *allowed: str, default: str) -> str:
    given = write.new.body.setdefault("sku", {})
    given.setdefault("name", default)
    given.setdefault("tier", "Regional")
    return choice(write, given["name"], "sku.name", allowed)


def choice(write: Write, value: Any, at: str, allowed: Collection[str]) -> str:
    """The value as Azure writes it. Raises ArmError for none of those."""
    for one in allowed:
        if isinstance(value, str) and ids.same(one, value):
            return one
    raise invalid(f"{write.id.text}: '{value}' at '{at}' is none of {', '.join(sorted(allowed))}.")


def pick(write: Write, of: dict[str, Any], at: str, allowed: Collection[str], default: str | None = None) -> str:
    """An enum in `of`, filled in with its default, kept as Azure writes it. `at` is its name."""
    of[at] = choice(write, of.get(at, default), at, allowed)
    return str(of[at])


def number(write: Write, of: dict[str, Any], at: str, least: int, most: int, default: int | None = None) -> int:
    value = of.get(at, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise invalid(f"{write.id.text}: {at} is {value!r}; it must be a number from {least} to {most}.")
    of[at] = value
    return value


def network(text: Any, at: str) -> IPv4Network:
    """A prefix without host bits. Raises ArmError."""
    try:
        if not isinstance(text, str) or "/" not in text:
            raise ValueError(f"{text!r} is no prefix")
        return IPv4Network(text)
    except ValueError as error:
        raise bad_request("InvalidCIDRNotation", f"The address prefix {text} of {at} is not valid: {error}.") from None


def listed(write: Write, at: str, known: Collection[str], read_only: Collection[str] = ()) -> list[dict[str, Any]]:
    """A list of named configurations, each {"name", "properties", "zones"}; they get ids and states here."""
    found = write.properties.setdefault(at, [])
    names: set[str] = set()
    for one in found:
        called = str(one.get("name") or "")
        if not called or called.lower() in names:
            raise invalid(f"{write.id.text}: '{called}' in '{at}' has no name or one that another there has.")
        names.add(called.lower())
        for key in SUB_READ_ONLY:
            one.pop(key, None)
        one["id"] = sub_id(write, at, called)
        properties = one.setdefault("properties", {})
        for key in read_only:
            properties.pop(key, None)
        if strange := sorted(properties.keys() - set(known) - {"provisioningState"}):
            raise invalid(f"Could not find member '{strange[0]}' at 'properties.{at}.{called}' of {write.id.text}.")
        properties["provisioningState"] = "Succeeded"
    return list(found)


def sub_id(write: Write, at: str, called: str) -> str:
    return f"{write.id.text}/{at}/{called}"


def guid(write: Write) -> None:
    """What it is called besides its name, from when it is made until it is gone."""
    write.properties["resourceGuid"] = (write.old.properties.get("resourceGuid") if write.old else None) or str(
        uuid.uuid4()
    )


def only_id(of: dict[str, Any], at: str) -> None:
    """A reference is kept as its id, whatever else a caller says of what it refers to."""
    if isinstance(of.get(at), dict):
        of[at] = {"id": of[at].get("id")}


def refuse_nested(write: Write, type_: str) -> None:
    """Before a delete that would take what is below along. Raises ArmError."""
    for one in write.world.store.children(write.new, type_):
        raise conflict(
            "CannotDeleteResource",
            "Cannot delete resource while nested resources exist. Some existing nested resource IDs include: "
            f"'{one.id.text}'. Please delete all nested resources before deleting this resource.",
        )
