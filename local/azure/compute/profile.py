"""What machines are made of, alone or in a scale set: what Azure refuses of it before it answers."""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from .. import ids, regions
from ..errors import ArmError, bad_request, conflict
from ..kinds import World
from ..store import Resource
from . import images

# The encoding of 65,535 bytes.
CUSTOM_DATA_LETTERS = 87_380
HIDDEN = ("osProfile.customData", "osProfile.adminPassword", "userData")
PRIORITIES, EVICTIONS = ("Regular", "Low", "Spot"), ("Deallocate", "Delete")
SUBNET = "Microsoft.Network/virtualNetworks/subnets"
# What the local Azure would have to do and does not: refused, so that nobody takes it for done.
NOT_HONOURED = (
    "extensionProfile",
    "applicationProfile",
    "hostGroup",
    "capacityReservation",
    "interconnectBlockProfile",
)


def check(world: World, profile: dict[str, Any], location: str, name: str, *, image: bool = True) -> dict[str, Any]:
    """Refuses what is wrong in it. Gives the image reference with its exact version, or {}. Raises ArmError.

    Without `image`, the image that it was made from need not be there any more.
    """
    for member in NOT_HONOURED:
        if profile.get(member):
            raise not_honoured(member)
    _os(profile.get("osProfile") or {})
    _encoded(profile.get("userData"), "userData")
    _spot(profile)
    reference = (profile.get("storageProfile") or {}).get("imageReference")
    if not reference or not image:
        return {}
    require_image_id(reference, name)
    resolved = images.resolve(world, reference, location)
    security = (profile.get("securityProfile") or {}).get("securityType")
    images.require_security(world, resolved, str(security), location)
    return resolved


def require_image_id(reference: dict[str, Any], name: str) -> None:
    if not reference.get("id") and not reference.get("publisher"):
        raise bad_request("InvalidParameter", f"The imageReference of {name} names neither an id nor a publisher.")


def not_honoured(member: str) -> ArmError:
    """Without the value, in which a secret may be, such as an extension's settings."""
    return bad_request("InvalidParameter", f"The local Azure does not do what {member} asks for.")


def _os(os_profile: dict[str, Any]) -> None:
    if not os_profile:
        return
    _encoded(os_profile.get("customData"), "customData")
    if not os_profile.get("adminUsername"):
        raise missing("osProfile.adminUsername")
    linux = os_profile.get("linuxConfiguration") or {}
    keys = (linux.get("ssh") or {}).get("publicKeys") or ()
    if linux.get("disablePasswordAuthentication") and not keys:
        message = (
            "Authentication using either SSH or by user name and password must be enabled in Linux profile. Target: "
            "osProfile.linuxConfiguration.disablePasswordAuthentication."
        )
        raise bad_request("InvalidParameter", message)
    if not linux.get("disablePasswordAuthentication") and not os_profile.get("adminPassword") and not keys:
        raise missing("osProfile.adminPassword")
    for key in keys:
        if not str(key.get("keyData", "")).startswith("ssh-"):
            raise bad_request(
                "InvalidParameter",
                "The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.",
            )


def missing(parameter: str) -> ArmError:
    return bad_request("InvalidParameter", f"Required parameter '{parameter}' is missing (null).")


def _encoded(text: str | None, what: str) -> None:
    if text is None:
        return
    try:
        base64.b64decode(text, validate=True)
        right = len(text) <= CUSTOM_DATA_LETTERS
    except (binascii.Error, ValueError):
        right = False
    if not right:
        title = "Custom data in OSProfile" if what == "customData" else "User data"
        message = f"{title} must be in Base64 encoding and with a maximum length of {CUSTOM_DATA_LETTERS} characters."
        raise bad_request("InvalidParameter", message)


def _spot(profile: dict[str, Any]) -> None:
    priority = profile.get("priority") or "Regular"
    if priority not in PRIORITIES:
        raise bad_request("InvalidParameter", f"The value '{priority}' of parameter 'priority' is invalid.")
    if priority == "Regular" and (profile.get("evictionPolicy") or profile.get("billingProfile")):
        message = "Eviction policy and max price can be set only on Azure Spot Virtual Machines."
        raise conflict("OperationNotAllowed", message)
    if (policy := profile.get("evictionPolicy")) and policy not in EVICTIONS:
        raise bad_request("InvalidParameter", f"The value '{policy}' of parameter 'evictionPolicy' is invalid.")
    price = (profile.get("billingProfile") or {}).get("maxPrice")
    if price is not None and price != -1 and not price > 0:
        raise bad_request("InvalidParameter", f"Max price {price} is invalid: it is above 0, or -1 for no limit.")


def is_spot(profile: dict[str, Any]) -> bool:
    return profile.get("priority") in ("Spot", "Low")


def check_zones(zones: list[str] | None, location: str) -> None:
    for zone in zones or ():
        if zone not in regions.zones(location):
            known = ", ".join(regions.zones(location)) or "none"
            message = (
                f"The zone(s) '{zone}' for resource are not supported. The supported zones for {location} are {known}."
            )
            raise bad_request("InvalidAvailabilityZone", message)


def require(world: World, id_: str, by: str, type_: str | None = None, location: str | None = None) -> Resource:
    """What a machine refers to. Raises ArmError when it is not there, or is another thing, or elsewhere."""
    found = world.store.find(id_)
    wrong = found is None or (type_ is not None and not ids.same(found.id.type, type_))
    if not wrong and location and found is not None and found.location not in ("", location):
        wrong = True
    if wrong or found is None:
        message = (
            f"Resource {id_} referenced by resource {by} was not found. Please make sure that the referenced resource "
            f"exists, and that both resources are in the same region."
        )
        raise bad_request("InvalidResourceReference", message)
    return found


def subnets(configurations: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every network interface's configuration with each of its addresses'."""
    for nic in configurations:
        for address in (nic.get("properties") or {}).get("ipConfigurations") or ():
            yield nic, address


def check_network(world: World, configurations: list[dict[str, Any]], by: str, location: str) -> None:
    """Of a scale set, or of a machine whose interfaces come and go with it. Raises ArmError."""
    if not configurations:
        raise missing("networkProfile.networkInterfaceConfigurations")
    primaries = [one for one in configurations if (one.get("properties") or {}).get("primary")]
    if len(primaries) != 1 and len(configurations) > 1:
        raise bad_request("InvalidParameter", f"Exactly one network interface configuration of {by} must be primary.")
    networks = {_check_address(world, nic, address, by, location) for nic, address in subnets(configurations)}
    for nic in configurations:
        if group := (nic.get("properties") or {}).get("networkSecurityGroup"):
            require(world, group["id"], by, None, location)
    if len(networks) > 1:
        raise bad_request("SubnetsNotInSameVnet", f"The subnets of {by} are not in the same virtual network.")


def _check_address(world: World, nic: dict[str, Any], configuration: dict[str, Any], by: str, location: str) -> str:
    """Gives the key of its network."""
    properties = configuration.get("properties") or {}
    id_ = (properties.get("subnet") or {}).get("id")
    if not id_:
        raise missing(f"networkInterfaceConfigurations.{nic.get('name')}.ipConfigurations.subnet")
    subnet = require(world, id_, by, SUBNET)
    assert subnet.id.parent
    require(world, subnet.id.parent.text, by, None, location)
    for one in properties.get("applicationSecurityGroups") or ():
        require(world, one["id"], by)
    for one in properties.get("loadBalancerBackendAddressPools") or ():
        _require_pool(world, one["id"], by)
    return subnet.id.parent.key


def _require_pool(world: World, id_: str, by: str) -> None:
    """A pool is a part of its balancer's body."""
    balancer = require(world, id_.rpartition("/backendAddressPools/")[0], by)
    if not any(ids.same(one.get("id"), id_) for one in balancer.properties.get("backendAddressPools") or ()):
        require(world, id_, by)
