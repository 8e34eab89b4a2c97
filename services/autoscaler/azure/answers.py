"""What Azure's answers about scale sets and their instances mean, in our words: pure.

Compute REST API: "States and billing status of Azure Virtual Machines"; an instance's view has a status for its making
and one for its power, such as ProvisioningState/failed/AllocationFailed and PowerState/running.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from .. import provider_ids
from ..group import Machine, State
from ..refusals import kind

MAKING, POWER = "ProvisioningState/", "PowerState/"
# What the cloud does with an instance → ours, where it is not to be told by its power.
DOING: dict[str, State] = {"Creating": "starting", "Deleting": "ending"}
# Of a spot machine it means that it was evicted: it holds its place in the set, and comes back by itself at no time.
OFF = ("deallocated", "deallocating")
# Of one of which something failed: nothing runs there.
DOWN = ("stopped", *OFF)
ON = ("running", "starting")


class Place(NamedTuple):
    """Of a region's scale sets."""

    subscription: str
    resource_group: str


class Instance(NamedTuple):
    """`spoilt` is one that is no machine, and never will be; `sentence` is the cloud's, where it could not make it.
    `stands`: Azure tells that it was made, or that it runs.
    """

    machine: Machine
    spoilt: bool = False
    sentence: str = ""
    stands: bool = False

    @property
    def settled(self) -> bool:
        return self.machine.state == "running" and self.stands and not self.spoilt


def machine_id(scale_set: str, vm: Any) -> str:
    """As provider_ids.instance reads it out of the ID that a node has."""
    return f"{scale_set}_{vm.instance_id}".lower()


def instance(place: Place, scale_set: str, vm: Any, *, spot: bool, stood: bool = False) -> Instance:
    """`vm` is a VirtualMachineScaleSetVM with its view, `stood` whether it was ever seen to stand."""
    about, number = vm.properties, str(vm.instance_id)
    statuses = list((about.instance_view and about.instance_view.statuses) or ())
    power = next((one.code.removeprefix(POWER) for one in statuses if (one.code or "").startswith(POWER)), "")
    making = about.provisioning_state or "Succeeded"
    computer = about.os_profile.computer_name if about.os_profile else ""
    state: State = DOING.get(making, "running")
    if making == "Updating" and power not in ON:
        state = "starting"
    provider = provider_ids.azure(*place, scale_set, number)
    machine = Machine(machine_id(scale_set, vm), provider, state, (computer or "").lower())
    if state == "ending":
        return Instance(machine)
    stands = making == "Succeeded" or power in ON
    if making == "Failed" and not stands:
        message = _failed(statuses)
        spoilt = power in DOWN or (not power and not stood and _never_came(about, message))
        return Instance(machine, spoilt=spoilt, sentence=message if spoilt else "")
    return Instance(machine, spoilt=spot and power in OFF, stands=stands)


def _never_came(about: Any, message: str) -> bool:
    """Of one that failed and of whose power nothing is told: there was no hardware for it, or no quota.

    Any other failure, such as an extension's, may be that of a machine with work on it, and so may one that is told
    without a reason: as a machine it ends only when the autoscaler asks for that, by all its rules. One whose agent has
    spoken has run.
    """
    return kind(message).elsewhere and not about.instance_view.vm_agent


def _failed(statuses: list[Any]) -> str:
    """Of an instance, with the code in front."""
    for one in statuses:
        code = one.code or ""
        if code.startswith(f"{MAKING}failed"):
            why = code.removeprefix(f"{MAKING}failed").strip("/") or "ProvisioningFailed"
            return f"{why}: {one.message or one.display_status or 'Azure does not say why'}"
    return "ProvisioningFailed: Azure does not say why"


def set_failed(view: Any) -> str:
    """Of a whole set, of its instance view; empty if it did not fail."""
    statuses = list(view.statuses or ())
    return _failed(statuses) if any((one.code or "").startswith(f"{MAKING}failed") for one in statuses) else ""


def sentence(error: Mapping[str, Any] | None) -> str:
    """Of ARM's error document: its code and message, and those of what is behind them."""
    if not error:
        return "Azure does not say why"
    message = f"{error.get('code') or 'Error'}: {error.get('message') or 'no message'}"
    behind = [sentence(one) for one in error.get("details") or () if isinstance(one, Mapping)]
    return " ".join([message, *(one for one in behind if one not in message)])


Outcome = Literal["going", "done", "failed"]
OVER: dict[str, Outcome] = {"succeeded": "done", "failed": "failed", "canceled": "failed"}
# Another request has taken the operation's place: that one will tell.
REPLACED = "OperationPreempted"


def outcome(document: Mapping[str, Any]) -> tuple[Outcome, str]:
    """Of an operation's status document, with the sentence of a failure."""
    found = OVER.get(str(document.get("status", "")).lower(), "going")
    if found != "failed":
        return found, ""
    message = sentence(document.get("error"))
    return ("done", "") if REPLACED in message else (found, message)
