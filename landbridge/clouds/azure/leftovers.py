"""What of a cluster in Azure outlives it: etcd's disks."""

import datetime
from functools import partial
from typing import Any

from ..leftovers import CLUSTER, DISK, FLEET, MACHINE, RETAINED
from .clients import Clients
from .refusals import call_azure

PERMISSION = "You need the role Contributor on {}"


def settle(clients: Clients, group: str, fleet: str, cluster: str, *, delete: bool, today: datetime.date) -> list[str]:
    """Sets the disks of a cluster that is gone aside, or deletes them; what was done, for people. Raises CloudError."""
    disks, needs = clients.compute.disks, PERMISSION.format(group)
    listed = call_azure(
        f"Disks that {cluster} leaves can't be listed", needs, lambda: list(disks.list_by_resource_group(group))
    )
    done = []
    for disk in sorted((one for one in listed if _of(one, fleet, cluster)), key=lambda one: str(one.name)):
        done.append(f"{disk.name} ({disk.tags.get(MACHINE)} {disk.tags[DISK]})")
        if delete:
            call_azure(f"{disk.name} can't be deleted", needs, partial(_delete, clients, group, disk))
        else:
            call_azure(f"{disk.name} can't be set aside", needs, partial(_aside, clients, disk, today))
    return [f"{'deleted' if delete else 'kept, with its data'}: {one}" for one in done]


def _delete(clients: Clients, group: str, disk: Any) -> None:
    clients.compute.disks.begin_delete(group, disk.name).result()


def _aside(clients: Clients, disk: Any, today: datetime.date) -> None:
    """All tags are one write: no moment comes in which the disk would be nobody's."""
    from azure.mgmt.resource.resources.models import Tags, TagsPatchResource

    left = {name: value for name, value in disk.tags.items() if name != DISK}
    tags = Tags(tags={**left, RETAINED: f"{disk.tags[DISK]} {today}"})
    patch = TagsPatchResource(operation="Replace", properties=tags)
    clients.resources.tags.begin_update_at_scope(disk.id, patch).result()


def _of(disk: Any, fleet: str, cluster: str) -> bool:
    tags = disk.tags or {}
    return tags.get(FLEET) == fleet and tags.get(CLUSTER) == cluster and DISK in tags
