"""What is asked of a scale set's instances together: to go, to change their power, to come to the latest model."""

from typing import Any

from ..compute import power, profile, scaling
from ..errors import bad_request
from ..kinds import Later, World, Write
from ..store import Resource


def upgrade(world: World, scale_set: Resource, chosen: list[Resource]) -> None:
    for one in chosen:
        if one.state["model"] != scaling.model(scale_set):
            scaling.take_model(world, scale_set, one)
            one.changed()


def _named(write: Write, *, required: bool) -> list[Resource]:
    """Those that a call's instanceIds name; all, without. Raises ArmError."""
    ids_given, have = write.body.get("instanceIds"), scaling.staying(write.world, write.new)
    if ids_given is None and required:
        raise profile.missing("instanceIds")
    if ids_given is None or "*" in ids_given:
        return have
    by_id = {one.body["instanceId"]: one for one in have}
    if unknown := [str(one) for one in ids_given if str(one) not in by_id]:
        message = (
            f"The provided instanceId {unknown[0]} is not an active Virtual Machine Scale Set VM instanceId of "
            f"{write.id.name}."
        )
        raise bad_request("InvalidParameter", message)
    return [by_id[one] for one in dict.fromkeys(str(one) for one in ids_given)]


def _delete(write: Write) -> Later:
    return going_away(write.world, write.new, _named(write, required=True))


def going_away(world: World, scale_set: Resource, chosen: list[Resource]) -> Later:
    """Those go, and the capacity is smaller at once."""
    for one in chosen:
        one.properties["provisioningState"], one.state["asked"] = "Deleting", True
    scale_set.body["sku"]["capacity"] = max(0, scaling.capacity(scale_set) - len(chosen))
    scale_set.changed()

    def over() -> None:
        for one in chosen:
            world.store.drop(one)

    def undo() -> None:
        scale_set.body["sku"]["capacity"] += len(chosen)
        for one in chosen:
            one.properties["provisioningState"] = "Failed"
            one.state.pop("asked")

    return Later(over, undo)


def _power(action: str) -> Any:
    def act(write: Write) -> Later:
        chosen = _named(write, required=False)
        for one in chosen:
            power.require_not_protected(one, action)

        def over() -> None:
            power.act(write.world, chosen, action)
            if action.lower().startswith("reimage"):
                upgrade(write.world, write.new, chosen)

        return Later(over)

    return act


def _manual_upgrade(write: Write) -> Later:
    chosen = _named(write, required=True)
    for one in chosen:
        power.require_not_protected(one, "Upgrade")
    return Later(lambda: upgrade(write.world, write.new, chosen))


POWER = ("start", "restart", "poweroff", "deallocate", "redeploy", "reimage", "reimageall")
ACTIONS = {**{name: _power(name) for name in POWER}, "delete": _delete, "manualupgrade": _manual_upgrade}
