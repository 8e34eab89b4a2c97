"""Network Watchers, one a region, which Azure makes with the first virtual network there; and their flow logs."""

from typing import Any

from .. import groups, ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, Write
from ..references import require
from ..store import Resource
from . import common

WATCHER, FLOW_LOG = "Microsoft.Network/networkWatchers", "Microsoft.Network/networkWatchers/flowLogs"
GROUP = "NetworkWatcherRG"
TARGETS = (
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/virtualNetworks/subnets",
    "Microsoft.Network/networkInterfaces",
)
KNOWN = frozenset(
    (
        *("targetResourceId", "storageId", "enabled", "retentionPolicy", "format", "flowAnalyticsConfiguration"),
        *("enabledFilteringCriteria", "recordTypes"),
    )
)
LONGEST_DAYS = 365


def watch_region(write: Write) -> None:
    """What Azure does in a subscription that has a network in a region and no watcher there.

    Azure docs, "Enable or disable Azure Network Watcher": NetworkWatcher_REGION in the group NetworkWatcherRG.
    """
    region, store = write.new.location, write.world.store
    if any(_same_place(write.id.subscription, region, one) for one in store.all(WATCHER)):
        return
    group = ids.group_id(write.id.subscription, GROUP)
    if group.lower() not in store.groups:
        groups.put(write.world, group, {"location": region})
    id_ = ids.parse(f"{group}/providers/{WATCHER}/NetworkWatcher_{region}")
    store.put(Resource(id_, {"location": region, "properties": {"provisioningState": "Succeeded"}}))


def is_azures(resource: Resource) -> bool:
    return ids.same(resource.id.type, WATCHER) and resource.id.group == GROUP


def _same_place(subscription: str, region: str, watcher: Resource) -> bool:
    return ids.same(watcher.id.subscription, subscription) and watcher.location == region


def _watcher(write: Write) -> None:
    common.name(write)
    for one in write.world.store.all(WATCHER):
        if one.id.key != write.id.key and _same_place(write.id.subscription, write.new.location, one):
            message = (
                "Cannot create more than 1 network watchers for this subscription in this region. There is "
                f"{one.id.text}."
            )
            raise bad_request("NetworkWatcherCountLimitReached", message)


def _log(write: Write) -> None:
    common.name(write)
    if write.new.location != write.parent.location:
        raise common.invalid(f"{write.id.text} is in {write.new.location}, its watcher in {write.parent.location}.")
    properties = write.properties
    target = require(write, properties.get("targetResourceId"), "properties.targetResourceId", *TARGETS)
    require(write, properties.get("storageId"), "properties.storageId", "Microsoft.Storage/storageAccounts")
    for other in write.siblings:
        if ids.same(other.properties["targetResourceId"], target.id.text):
            raise common.invalid(f"{target.id.text} has a flow log already: {other.id.text}.")
    retention: dict[str, Any] = properties.setdefault("retentionPolicy", {"days": 0, "enabled": False})
    if strange := sorted(retention.keys() - {"days", "enabled"}):
        raise common.invalid(
            f"Could not find member '{strange[0]}' at 'properties.retentionPolicy' of {write.id.text}."
        )
    common.number(write, retention, "days", 0, LONGEST_DAYS, 0)
    properties.setdefault("enabled", True)
    format_: dict[str, Any] = properties.setdefault("format", {"type": "JSON", "version": 2})
    common.pick(write, format_, "type", ("JSON",), "JSON")
    common.number(write, format_, "version", 1, 2, 2)
    properties["targetResourceGuid"] = target.properties.get("resourceGuid", "")


KINDS = (
    Kind(WATCHER, check=_watcher, known=frozenset(("runningOperationIds",)), free=frozenset((FLOW_LOG,))),
    Kind(FLOW_LOG, check=_log, known=KNOWN, read_only=("targetResourceGuid",), slow=SLOW),
)
