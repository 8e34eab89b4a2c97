"""What clouds hold of the fleet though no stack of it does: it costs, and its names are in the next one's way."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from fleet.buckets import in_azure
from fleet.model import Fleet
from landbridge.clouds.aws.lookups import TAGGED, tags, there
from landbridge.clouds.leftovers import RETAINED
from landbridge.cluster.info import deployment
from landbridge.cluster.session import HASTY, clients_at
from landbridge.pool.listing import named
from landbridge.up.recovery import resources

from .finding import Finding
from .subject import Patient

AREA = "leftovers"
FLEET, STACK = "landbridge:fleet", "landbridge:stack"


class Left(NamedTuple):
    """`retained` was set aside by a destroy, for people to decide on."""

    stack: str
    name: str
    retained: bool = False


def look(patient: Patient, region: str) -> Iterator[Finding]:
    world, place = patient.known
    fleet = world.fleet
    found = _groups(fleet, region) if in_azure(fleet, region) else _tagged(patient, region)
    by_stack = defaultdict[tuple[str, bool], list[str]](list)
    for one in found:
        by_stack[one.stack, one.retained].append(one.name)
    for (stack, retained), names in sorted(by_stack.items()):
        many = named(names)
        if retained:
            text = f"{region} keeps {many}, disks that an earlier destroy of {stack} has set aside"
        elif resources(deployment(place, stack)):
            continue
        else:
            text = f"{region} has {many} of stack {stack}, which is not up"
        yield Finding(AREA, "soon", text, _remedy(fleet, region, names))


def _tagged(patient: Patient, region: str) -> Iterator[Left]:
    world, place = patient.known
    of, fleet = clients_at(world, place, region, HASTY), world.fleet.fleet
    for listing in TAGGED.values():
        for item in there(of, listing):
            has = tags(item)
            # A secret that is being deleted is told of for as long as it could come back.
            if has.get(FLEET) == fleet and "DeletedDate" not in item:
                yield Left(has.get(STACK, ""), str(item[listing.id]), RETAINED in has)


def _groups(fleet: Fleet, region: str) -> Iterator[Left]:
    from azure.mgmt.resource.resources import ResourceManagementClient

    from landbridge.clouds.azure.sign_in import credential

    assert fleet.azure
    client = ResourceManagementClient(credential(), fleet.azure.subscription_id)
    for group in client.resource_groups.list():
        has = group.tags or {}
        if has.get(FLEET) == fleet.fleet and group.location == region:
            yield Left(has.get(STACK, ""), str(group.name))


def _remedy(fleet: Fleet, region: str, names: list[str]) -> str:
    if in_azure(fleet, region):
        return f"If nobody needs it: `az group delete --name {names[0]}`"
    volumes = [name for name in names if name.startswith("vol-")]
    if volumes:
        return f"If nobody needs what is on them: `aws ec2 delete-volume --region {region} --volume-id {volumes[0]}`"
    return f"If nobody needs them, `aws resourcegroupstaggingapi get-resources --region {region}` names them all"
