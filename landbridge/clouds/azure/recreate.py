"""A machine of one in Azure, made anew by the engine: exactly this virtual machine, and nothing beside it.

Programs keep a machine's birth as it was (image, custom data, size), however it should be by now: a plain `up` never
replaces one. For the machine that `ROLLED` names they do not, and the engine is told to replace that alone. Its
interface, disks and identity are resources of their own and stay. docs/decisions/0043-rolls-on-azure.md.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pulumi.automation import CommandError

from fleet.rolling import ROLLED
from landbridge.engine.failures import last_error, worth_telling
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import StackReport
from landbridge.places import Place, pulumi_root

from ..cloud import CloudError
from .refusals import remedy_of

MACHINE_TYPE = "azure-native:compute:VirtualMachine"
TAG = "landbridge:machine"


def urn(state: Mapping[str, Any] | None, machine: str) -> str:
    """Of the resource that is a machine of one; empty if the stack's state has none."""
    for resource in (state or {}).get("resources") or ():
        if resource["type"] == MACHINE_TYPE and not resource.get("delete"):
            tags = (resource.get("inputs") or {}).get("tags") or {}
            if tags.get(TAG) == machine:
                return str(resource["urn"])
    return ""


def recreate(place: Place, stack: str, machine: str) -> None:
    """Raises CloudError; what stands then the next look tells.

    Interrupted, it waits for the engine: one that is cut off leaves the stack locked, and a machine nobody knows of.
    """
    engine = StackEngine(stack, place, PulumiCommand(pulumi_root()))
    found = urn(engine.state(), machine)
    again = f"landbridge up {stack}{place.options}"
    if not found:
        raise CloudError(f"{machine} is not in the stack {stack}. `{again}` makes it.")
    report = StackReport(stack)
    try:
        with ThreadPoolExecutor(1) as hand:
            hand.submit(engine.up_only, found, report.hear, {ROLLED: machine}).result()
    except CommandError as error:
        problems = worth_telling(report, error, place)
        why = "; ".join(problem.message for problem in problems) or last_error(str(error))
        raise CloudError(
            f"{machine} could not be made anew: {why}. {remedy_of(why)}. Its interface and disks stay; `{again}` or "
            f"the same command again makes it."
        ) from None


def at(place: Place) -> Callable[[Any, str], None]:
    """As cloud.py asks for it."""
    return lambda info, machine: recreate(place, info.name, machine)
