"""What Azure says of a scale set's machine, in the words that the commands have of AWS: pure.

Compute REST API: "States and billing status of Azure Virtual Machines". An instance's view has a status for its making,
such as ProvisioningState/failed/AllocationFailed, and one for its power.
"""

from collections.abc import Iterable
from typing import Any

MAKING, POWER = "ProvisioningState/", "PowerState/"
ON = ("running", "starting")
# Of a spot machine: it was evicted, and does not come back. Of any other: somebody has switched it off.
OFF = ("deallocated", "deallocating", "stopped", "stopping")


def name(vm: Any) -> str:
    """Its computer's, which its node has in small letters."""
    profile = vm.properties.os_profile
    return str((profile and profile.computer_name) or vm.name or "").lower()


def _statuses(vm: Any) -> list[Any]:
    view = vm.properties.instance_view
    return list((view and view.statuses) or ())


def power(vm: Any) -> str:
    """Empty where Azure does not say."""
    codes = (one.code or "" for one in _statuses(vm))
    return next((code.removeprefix(POWER) for code in codes if code.startswith(POWER)), "")


def making(vm: Any) -> str:
    return str(vm.properties.provisioning_state or "Succeeded")


def spoilt(vm: Any) -> bool:
    """It holds a place in its set, and is no machine: it never came, or is off."""
    if making(vm) == "Deleting":
        return False
    return power(vm) in OFF or (making(vm) == "Failed" and power(vm) not in ON)


def life(vm: Any) -> str:
    """Of one that is not spoilt, in AWS's words."""
    if making(vm) == "Deleting":
        return "Terminating"
    if making(vm) in ("Creating", "Updating") and power(vm) != "running":
        return "Pending"
    return "InService"


def failure(vm: Any) -> str:
    """Why it never came; empty for one that came and went off."""
    found = failures(_statuses(vm))
    if not found and making(vm) == "Failed":
        return "Azure does not say why"
    return found[0] if found else ""


def failures(statuses: Iterable[Any]) -> list[str]:
    """Of an instance's view, or a whole set's: with the code in front."""
    found = []
    for one in statuses:
        code = one.code or ""
        if code.startswith(f"{MAKING}failed"):
            why = code.removeprefix(f"{MAKING}failed").strip("/") or "ProvisioningFailed"
            found.append(f"{why}: {one.message or one.display_status or 'Azure does not say why'}")
    return found
