"""Azure's side of pools: uniform scale sets, whose machines go by their computers' names as nodes do.

docs/decisions/0033-scale-sets.md. A scale set has no least and no most: those of the fleet file count.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from components.pools.names import Group as Told
from components.pools.names import Names, zone_name
from fleet.azure import images as names
from fleet.image_names import ImageVariant
from fleet.images import DRIVER, NAME, TAG
from landbridge.clouds.azure.cloud import Azure
from landbridge.clouds.azure.cloud import image as image_of
from landbridge.clouds.azure.refusals import call_azure
from landbridge.clouds.cloud import CloudError
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell

from ..regions import About, Image, RegionError
from ..sizes import Group, Machine
from . import answers

Answer = TypeVar("Answer")
READS, WRITES = "You need the role Reader on {}", "You need the role Virtual Machine Contributor on {}"
# Of a machine that is of an earlier model than its set's.
OLDER = "older"
DIGITS = 8


class There(NamedTuple):
    """A machine: its scale set, and its number in it."""

    group: str
    number: str
    vm: Any


class AzureScaling:
    """One region."""

    def __init__(self, session: Session, region: str) -> None:
        cloud = session.cloud_at(region)
        assert isinstance(cloud, Azure)
        self.fleet, self.region, self.names = session.world.fleet, region, Names(session.world.fleet)
        self.group, self.compute = cloud.group, cloud.clients.compute

    def _call(self, what: str, call: Callable[[], Answer], *, needs: str = READS) -> Answer:
        try:
            return call_azure(f"{self.region}: {what}", needs.format(self.group), call)
        except CloudError as error:
            raise RegionError(str(error)) from None

    def _sets(self) -> dict[str, Any]:
        """All of the region, by name."""
        sets = self.compute.virtual_machine_scale_sets
        return {
            one.name: one for one in self._call("its scale sets can't be listed", lambda: list(sets.list(self.group)))
        }

    def _machines(self, group: str) -> list[Any]:
        machines, what = self.compute.virtual_machine_scale_set_vms, f"machines of {group} can't be listed"
        return self._call(what, lambda: list(machines.list(self.group, group, expand="instanceView")))

    def groups(self, pools: Collection[str]) -> dict[str, list[Group]]:
        there = self._sets()
        found = {}
        for pool in pools:
            planned = [one for one in self.names.scaling(pool) if one.name in there]
            newest = model([there[one.name] for one in planned])
            found[pool] = [self._group(there[one.name], one, newest) for one in planned]
        return found

    def _group(self, scale_set: Any, planned: Told, newest: str) -> Group:
        capacity, listed = int(scale_set.sku.capacity or 0), self._machines(scale_set.name)
        spoilt = [one for one in listed if answers.spoilt(one)]
        machines = tuple(self._machine(one, newest) for one in listed if one not in spoilt)
        group = Group(scale_set.name, planned.least, planned.most, capacity, machines)
        whys = [why for one in spoilt if (why := answers.failure(one))]
        failed = ",".join(sorted(str(one.instance_id) for one in spoilt))
        if not whys and scale_set.properties.provisioning_state == "Failed":
            view = self._call(
                f"{scale_set.name} does not tell why it failed",
                lambda: self.compute.virtual_machine_scale_sets.get_instance_view(self.group, scale_set.name),
            )
            whys, failed = answers.failures(view.statuses or ()), str(scale_set.etag)
        return group._replace(failure=whys[0] if whys else "", failed=failed)

    def _machine(self, vm: Any, newest: str) -> Machine:
        zone = zone_name(self.fleet, self.region, (vm.zones or [""])[0])
        made_by = newest if vm.properties.latest_model_applied else OLDER
        return Machine(answers.name(vm), zone, answers.life(vm), made_by)

    def set_desired(self, wanted: Mapping[str, int]) -> None:
        """Machines that failed, or that were evicted, hold a place: they go first, or they would be tried again."""
        for name, number in wanted.items():
            if spoilt := [one.instance_id for one in self._machines(name) if answers.spoilt(one)]:
                self._delete(name, spoilt)
            self._resize(name, number)

    def _resize(self, name: str, number: int) -> None:
        from azure.mgmt.compute.models import Sku, VirtualMachineScaleSetUpdate

        sets, size = self.compute.virtual_machine_scale_sets, VirtualMachineScaleSetUpdate(sku=Sku(capacity=number))
        self._call(
            f"{name} can't be asked for {number} machines",
            # What becomes of it its machines tell.
            lambda: sets.begin_update(self.group, name, size, polling=False),
            needs=WRITES,
        )

    def _delete(self, name: str, numbers: Sequence[str]) -> None:
        from azure.mgmt.compute.models import VirtualMachineScaleSetVMInstanceRequiredIDs

        ids = VirtualMachineScaleSetVMInstanceRequiredIDs(instance_ids=list(numbers))
        sets = self.compute.virtual_machine_scale_sets
        self._call(
            f"machines {', '.join(numbers)} of {name} can't be ended",
            lambda: sets.begin_delete_instances(self.group, name, ids).result(),
            needs=WRITES,
        )

    def _there(self, wanted: Collection[str]) -> Iterator[tuple[str, There]]:
        """Machines by name; only sets are listed whose machines' names begin so."""
        for group in self._sets():
            if any(name.startswith(f"{group}-".lower()) for name in wanted):
                for one in self._machines(group):
                    if (name := answers.name(one)) in wanted:
                        yield name, There(group, str(one.instance_id), one)

    def about(self, names: Iterable[str]) -> dict[str, About]:
        return {
            name: About(
                image_of(one.vm.properties).lower(),
                one.vm.properties.time_created or datetime.max.replace(tzinfo=UTC),
                answers.spoilt(one.vm),
            )
            for name, one in self._there(set(names))
        }

    def end(self, name: str, *, replace: bool) -> None:
        """A scale set is made smaller by that, and has to be asked for its successor."""
        there = dict(self._there({name}))
        if name not in there:
            return
        group = there[name].group
        self._delete(group, [there[name].number])
        if not replace:
            return
        try:
            sets = self.compute.virtual_machine_scale_sets
            scale_set = self._call(f"{group} can't be read", lambda: sets.get(self.group, group))
            self._resize(group, int(scale_set.sku.capacity or 0) + 1)
        except RegionError as error:
            raise RegionError(f"{name} has ended, and nobody comes in its place: {error}") from None

    def let_go(self, groups: Sequence[Group], waiting: Sequence[str], tell: Tell) -> set[str]:  # noqa: ARG002
        """Nothing waits: machines themselves hear of their end (Scheduled Events)."""
        return set()

    def launched(self, pool: str) -> Collection[str]:
        """Azure forgets machines that have ended."""
        there = self._sets()
        listed = (one for name in self.names.groups(pool) if name in there for one in self._machines(name))
        return [answers.name(one) for one in listed]

    def parameter(self, pool: str) -> str:
        """The channel of an image in the fleet's gallery: IMAGE:CHANNEL."""
        spec = self.fleet.pools[pool]
        variant: ImageVariant = "gpu" if spec.gpus else "cpu"
        return f"{names.definition(self.fleet.clusters[spec.cluster].kubernetes, variant)}:{spec.channel}"

    def values(self, parameters: Iterable[str]) -> dict[str, str]:
        found = {}
        for parameter in set(parameters):
            definition, _, channel = parameter.partition(":")
            image = self._in_gallery(self.compute.gallery_images, definition)
            tags = (image.tags if image else None) or {}
            if image and (version := tags.get(names.tag(channel, self.region), "").partition(" ")[0]):
                found[parameter] = f"{image.id}/versions/{version}".lower()
        return found

    def _in_gallery(self, kind: Any, *of: str) -> Any:
        """An image, or a version of one; None where the fleet's gallery has none."""
        from azure.core.exceptions import ResourceNotFoundError

        def there() -> Any:
            try:
                return kind.get(names.group(self.fleet.fleet), names.gallery(self.fleet.fleet), *of)
            except ResourceNotFoundError:
                return None

        return self._call(f"{' '.join(of)} can't be read in the gallery", there)

    def images(self, ids: Collection[str]) -> dict[str, Image]:
        found = {}
        for id_, match in ((id_, names.VERSION.match(id_)) for id_ in ids):
            if match is None:
                continue
            definition = match["image"].rpartition("/")[2]
            made = self._in_gallery(self.compute.gallery_image_versions, definition, match["version"])
            if made is not None:
                tags, profile = made.tags or {}, made.properties.publishing_profile
                published = profile.published_date if profile else None
                name = tags.get(NAME) or f"{definition}/{match['version']}"
                created = published.isoformat() if published else ""
                found[id_] = Image(name, tags.get(TAG), tags.get(DRIVER), created)
        return found

    def template(self, pool: str) -> tuple[str, str]:
        """A digest of its scale sets' models: Azure counts none."""
        there = self._sets()
        mine = [there[name] for name in self.names.groups(pool) if name in there]
        starts = {image_of(one.properties.virtual_machine_profile).lower() for one in mine}
        return model(mine), ", ".join(sorted(starts))

    def starts(self, parameter: str, id_: str) -> str:  # noqa: ARG002
        """A model names the version itself, which the last `up` wrote there."""
        return id_


def model(sets: Sequence[Any]) -> str:
    """What all machines of these are made by, in a few digits."""
    models = [[one.name, one.sku.name, one.properties.virtual_machine_profile.as_dict()] for one in sets]
    return hashlib.sha256(json.dumps(models, sort_keys=True, default=str).encode()).hexdigest()[:DIGITS]
