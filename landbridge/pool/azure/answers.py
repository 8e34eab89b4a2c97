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


def name(told: Any) -> str:
    """Its computer's, which its node has in small letters."""
    profile = told.properties.os_profile
    return str((profile and profile.computer_name) or told.name or "").lower()


def _statuses(told: Any) -> list[Any]:
    view = told.properties.instance_view
    return list((view and view.statuses) or ())


def power(told: Any) -> str:
    """Empty where Azure does not say."""
    codes = (one.code or "" for one in _statuses(told))
    return next((code.removeprefix(POWER) for code in codes if code.startswith(POWER)), "")


def making(told: Any) -> str:
    return str(told.properties.provisioning_state or "Succeeded")


def spoilt(told: Any) -> bool:
    """It holds a place in its set, and is no machine: it never came, or is off."""
    if making(told) == "Deleting":
        return False
    return power(told) in OFF or (making(told) == "Failed" and power(told) not in ON)


def life(told: Any) -> str:
    """Of one that is not spoilt, in AWS's words."""
    if making(told) == "Deleting":
        return "Terminating"
    if making(told) in ("Creating", "Updating") and power(told) != "running":
        return "Pending"
    return "InService"


def failure(told: Any) -> str:
    """Why it never came; empty for one that came and went off."""
    found = failures(_statuses(told))
    if not found and making(told) == "Failed":
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
