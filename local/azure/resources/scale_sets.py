"""Scale sets of machines that are all alike (Uniform orchestration).

Azure docs, "Virtual Machine Scale Sets" (compute 2024-11-01); what the local Azure does not do of it is refused.
"""

import uuid
from typing import Any

from ..compute import limits, profile, scaling
from ..errors import bad_request, conflict
from ..kinds import SLOW, Kind, Write
from ..operations import now
from ..store import Resource
from . import scale_set_actions

SET, INSTANCE = limits.SET, limits.INSTANCE
MOST, MOST_OF_ONE_GROUP = 1000, 100  # Azure docs, "Working with large scale sets"
MODES = ("Manual", "Automatic")
NOT_HONOURED = ("priorityMixPolicy", "spotRestorePolicy", "skuProfile", "hostGroup", "resiliencyPolicy", "standbyPool")
COMPUTED = ("uniqueId", "timeCreated")


def _check(write: Write) -> None:
    body, properties, old = write.new.body, write.properties, write.old
    _sku(body, old)
    _policies(properties)
    if old is None:
        properties.update({"uniqueId": str(uuid.uuid4()), "timeCreated": now()})
    else:
        properties.update({name: old.properties[name] for name in COMPUTED})
        _fixed(write, old)
    properties["provisioningState"] = old.properties["provisioningState"] if old else "Creating"
    properties.setdefault("orchestrationMode", "Uniform")
    properties["singlePlacementGroup"] = bool(properties.get("singlePlacementGroup", True))
    if properties.get("overprovision", True):
        message = "The local Azure does not overprovision, and Azure does by default: set overprovision to false."
        raise bad_request("InvalidParameter", message)
    machine = properties.get("virtualMachineProfile") or {}
    os = (old.properties["virtualMachineProfile"].get("osProfile") or {}) if old else {}
    for secret in ("customData", "adminPassword"):
        if secret in os and machine.get("osProfile"):
            machine["osProfile"].setdefault(secret, os[secret])
    profile.check_zones(body.get("zones"), write.new.location)
    if not (machine.get("storageProfile") or {}).get("imageReference"):
        raise profile.missing("virtualMachineProfile.storageProfile.imageReference")
    if not machine.get("osProfile"):
        raise profile.missing("virtualMachineProfile.osProfile")
    profile.check(write.world, machine, write.new.location, write.id.text)
    network = (machine.get("networkProfile") or {}).get("networkInterfaceConfigurations") or []
    profile.check_network(write.world, network, write.id.text, write.new.location)
    if not machine["osProfile"].get("computerNamePrefix"):
        machine["osProfile"]["computerNamePrefix"] = write.id.name
    _room(write, machine)


def _sku(body: dict[str, Any], old: Resource | None) -> None:
    sku = body.setdefault("sku", {})
    if old:
        body["sku"] = sku = {**old.body["sku"], **{key: value for key, value in sku.items() if value is not None}}
    if not sku.get("name"):
        raise profile.missing("sku.name")
    wanted = limits.require_size(str(sku["name"]), body["location"])
    sku.update({"name": wanted.name, "tier": sku.get("tier") or "Standard"})
    sku["capacity"] = _count(sku.get("capacity", 0))


def _count(capacity: Any) -> int:
    try:
        return int(capacity)
    except (TypeError, ValueError):
        raise bad_request(
            "InvalidParameter", f"The value '{capacity}' of parameter 'sku.capacity' is invalid."
        ) from None


def _policies(properties: dict[str, Any]) -> None:
    if properties.get("orchestrationMode", "Uniform") != "Uniform":
        raise profile.not_honoured("orchestrationMode")
    for member in NOT_HONOURED:
        if properties.get(member):
            raise profile.not_honoured(member)
    if (properties.get("automaticRepairsPolicy") or {}).get("enabled"):
        raise profile.not_honoured("automaticRepairsPolicy")
    mode = (properties.get("upgradePolicy") or {}).get("mode")
    if mode is None:
        raise profile.missing("upgradePolicy.mode")
    if mode not in MODES:
        raise profile.not_honoured("upgradePolicy.mode")
    rules = (properties.get("scaleInPolicy") or {}).get("rules") or ["Default"]
    if len(rules) != 1 or rules[0] not in ("Default", "OldestVM", "NewestVM"):
        raise bad_request("InvalidParameter", f"The value {rules} of parameter 'scaleInPolicy.rules' is invalid.")


def _fixed(write: Write, old: Resource) -> None:
    """Azure docs, "Modify a scale set": what cannot change after it is made."""
    new, former = write.properties, old.properties
    fixed = {"zones": (old.body.get("zones") or [], write.new.body.get("zones") or [])}
    fixed["zones"] = (sorted(fixed["zones"][0]), sorted(fixed["zones"][1]))
    if not set(fixed["zones"][0]) <= set(fixed["zones"][1]) or (fixed["zones"][1] and not fixed["zones"][0]):
        raise conflict("PropertyChangeNotAllowed", "Changing property 'zones' is not allowed but to add zones.")
    for name in ("priority", "evictionPolicy"):
        before, after = (one["virtualMachineProfile"].get(name) for one in (former, new))
        if (before or "Regular") != (after or "Regular"):
            message = f"Changing property 'virtualMachineProfile.{name}' is not allowed."
            raise conflict("PropertyChangeNotAllowed", message)
    if new.get("singlePlacementGroup", former["singlePlacementGroup"]) and not former["singlePlacementGroup"]:
        raise conflict("PropertyChangeNotAllowed", "Changing property 'singlePlacementGroup' to true is not allowed.")


def _room(write: Write, machine: dict[str, Any]) -> None:
    """How many there may be: of its placement group, and by quota. Those protected stay."""
    wanted = scaling.capacity(write.new)
    most = MOST_OF_ONE_GROUP if write.properties["singlePlacementGroup"] else MOST
    if not 0 <= wanted <= most:
        message = (
            f"The specified capacity {wanted} is out of range: a scale set with singlePlacementGroup "
            f"{str(write.properties['singlePlacementGroup']).lower()} has 0 to {most} instances."
        )
        raise bad_request("InvalidParameter", message)
    have = scaling.staying(write.world, write.new)
    size = limits.require_size(write.new.body["sku"]["name"], write.new.location)
    more, spot = wanted - len(have), profile.is_spot(machine)
    limits.require_quota(write.world, write.new.location, write.id.subscription, size, more, spot=spot)
    if more < 0:
        scaling.choose(write.world, write.new, -more)


def _begun(write: Write) -> None:
    """Instances come and go from now on."""
    _tags(write)
    _drop_failed(write)
    more = scaling.capacity(write.new) - len(scaling.staying(write.world, write.new))
    if more > 0:
        scaling.grow(write, more)
    elif more < 0:
        scaling.leave(write.world, write.new, -more)


def _tags(write: Write) -> None:
    """A set's tags and identity hold for its instances, too."""
    for one in scaling.staying(write.world, write.new):
        for member in ("tags", "identity"):
            if write.new.body.get(member):
                one.body[member] = dict(write.new.body[member])
            else:
                one.body.pop(member, None)


def _drop_failed(write: Write) -> None:
    """Those that got no hardware are tried again."""
    for one in scaling.staying(write.world, write.new):
        if one.state.get("power") == "none":
            one.properties["provisioningState"], one.state["power"] = "Creating", "starting"
            one.state.pop("failure", None)


def _settle(write: Write) -> None:
    world, scale_set = write.world, write.new
    for one in scaling.instances(world, scale_set):
        if scaling.going(one) and not one.state.get("asked"):  # deletes that were asked for are their own operations
            world.store.drop(one)
    failed = scaling.allocate(write)
    if scale_set.properties["upgradePolicy"]["mode"] == "Automatic":
        scale_set_actions.upgrade(world, scale_set, scaling.staying(world, scale_set))
    if failed:
        raise failed


def _failed(write: Write) -> None:
    for one in scaling.instances(write.world, write.new):
        if one.properties["provisioningState"] == "Creating":
            write.world.store.drop(one)
        elif scaling.going(one) and not one.state.get("asked"):
            one.properties["provisioningState"] = "Succeeded"


def _removing(write: Write) -> None:
    for one in scaling.staying(write.world, write.new):
        one.properties["provisioningState"] = "Deleting"


KINDS = (
    Kind(
        SET,
        check=_check,
        begun=_begun,
        settle=_settle,
        failed=_failed,
        removing=_removing,
        actions=scale_set_actions.ACTIONS,
        hidden=tuple(f"virtualMachineProfile.{path}" for path in profile.HIDDEN),
        slow=SLOW,
        preempts=True,
    ),
)
