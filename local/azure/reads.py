"""What ARM answers that is no resource of anybody's: usages, sizes. Pattern of the path, in small letters → answer."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from . import activity, measured, network_limits
from .compute import reads as compute
from .kinds import World
from .requests import Read, Request
from .resources import storage_accounts, vaults

SUBSCRIPTION = r"/subscriptions/[^/]+"


def _name_free(judge: Callable[[World, str], Any]) -> Read:
    def answer(world: World, request: Request, _: re.Match[str]) -> Any:
        return judge(world, str(request.object.get("name", "")))

    return answer


def _activity(world: World, request: Request, found: re.Match[str]) -> Any:
    return activity.listed(world, found[1], request.query)


READS: Mapping[str, Read] = {
    **compute.READS,
    **network_limits.READS,
    **measured.READS,
    rf"{SUBSCRIPTION}/providers/microsoft\.storage/checknameavailability": _name_free(storage_accounts.availability),
    r"/subscriptions/([^/]+)/providers/microsoft\.insights/eventtypes/management/values": _activity,
    rf"{SUBSCRIPTION}/providers/microsoft\.keyvault/checknameavailability": _name_free(vaults.availability),
}
