"""The machines of a scale set, one by one: their protection, power, deletion and eviction."""

from typing import Any

from ..compute import events, limits, power, scaling
from ..errors import bad_request, conflict
from ..kinds import Kind, Later, World, Write
from ..store import Resource
from .scale_set_actions import going_away

# What a PUT can change; the rest stays as the set's model has it (compute 2024-11-01, "VM instances: Update").
OWN = ("protectionPolicy",)


def scale_set(world: World, instance: Resource) -> Resource:
    assert instance.id.parent
    return world.store.get(instance.id.parent)


def _check(write: Write) -> None:
    if write.old is None:
        message = f"The VM instance '{write.id.name}' is not there: a scale set makes its own, by its capacity."
        raise bad_request("InvalidParameter", message)
    changed = {name: write.properties.get(name) for name in OWN}
    policy = changed["protectionPolicy"] or {}
    if policy.get("protectFromScaleSetActions") and not policy.get("protectFromScaleIn", True):
        message = "protectFromScaleSetActions is allowed only together with protectFromScaleIn."
        raise bad_request("InvalidParameter", message)
    if scaling.going(write.old):
        raise conflict("OperationNotAllowed", f"VM instance {write.id.name} is being deleted.")
    properties = {key: value for key, value in write.old.properties.items() if key not in OWN}
    properties |= {name: value for name, value in changed.items() if value is not None}
    write.new.body = {**write.old.body, "properties": properties}


def _settle(write: Write) -> None:
    write.properties.setdefault("vmId", "")


def _removing(write: Write) -> None:
    if not scaling.going(write.new):
        going_away(write.world, scale_set(write.world, write.new), [write.new])


def _power(action: str) -> Any:
    def act(write: Write) -> Later:
        def over() -> None:
            power.act(write.world, [write.new], action)
            if action.lower().startswith("reimage"):
                scaling.take_model(write.world, scale_set(write.world, write.new), write.new)

        return Later(over)

    return act


def evict(world: World, instance: Resource) -> None:
    """Takes a spot machine's hardware away: by its policy it goes, or stands deallocated. Raises ArmError."""
    if instance.state.get("priority") != "Spot":
        raise conflict("OperationNotAllowed", f"{instance.id.text} is no Azure Spot Virtual Machine.")
    owner = scale_set(world, instance)
    if owner.properties["virtualMachineProfile"].get("evictionPolicy") == "Delete":
        going_away(world, owner, [instance]).finish()
    else:
        instance.state["power"] = "deallocated"
        instance.changed()


def _simulate_eviction(write: Write) -> None:
    events.evict(write.world, write.new)


def _computed(world: World, instance: Resource) -> dict[str, Any]:
    owner = scale_set(world, instance)
    return {"latestModelApplied": instance.state["model"] == scaling.model(owner)}


ACTIONS = {
    name: _power(name) for name in ("start", "restart", "powerOff", "deallocate", "redeploy", "reimage", "reimageAll")
}
KINDS = (
    Kind(
        limits.INSTANCE,
        tracked=False,
        check=_check,
        settle=_settle,
        removing=_removing,
        actions={**ACTIONS, "simulateEviction": _simulate_eviction},
        slow=frozenset(("PUT", "DELETE")),
        methods=frozenset(("GET", "PUT", "DELETE")),
        preempts=True,
        expands={"instanceview": power.expanded},
        evict=evict,
        computed=_computed,
    ),
)
