"""Which images pools start from and run: what their channels name now, and what their machines came of."""

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fleet.images import refusals
from fleet.model import Fleet
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import cloud as scaling
from .regions import Image, Scaling
from .sizes import Group, Machine


class Wanted(NamedTuple):
    """What a pool's next machine starts from: `parameter` names the image `id`, whose bake called it `name`; `template`
    is the newest version of the launch template.
    """

    parameter: str
    id: str
    name: str
    template: str

    @property
    def label(self) -> str:
        return f"{self.name} ({self.id})" if self.name != self.id else self.id

    def behind(self, machine: Machine, image: str) -> tuple[str, ...]:
        """What of a machine with this image is not the newest."""
        found = {"image": (image, self.id), "template": (machine.template, self.template)}
        return tuple(what for what, (has, newest) in found.items() if has and newest and has != newest)


class Run(NamedTuple):
    """What a pool's machines run. `id` is empty where the channel names no image; `machines` are numbers by the name of
    an image, `older` how many have another than the channel's: none where it names none.
    """

    channel: str
    parameter: str
    id: str
    name: str
    machines: Mapping[str, int]
    older: int

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "machines": dict(self.machines)}


def of_region(session: Session, region: str, pools: Mapping[str, Sequence[Group]]) -> dict[str, Run]:
    """By pool, for those that stand in the region. Raises RegionError."""
    cloud, fleet = scaling.at(session, region), session.world.fleet
    parameters = {pool: cloud.parameter(pool) for pool in pools}
    ids = cloud.values(parameters.values())
    live = {pool: [one.name for group in groups for one in group.live] for pool, groups in pools.items()}
    machines = cloud.about([name for names in live.values() for name in names])
    started = {name: one.image for name, one in machines.items()}
    names = called(cloud, {*ids.values(), *started.values()})
    found = {}
    for pool, parameter in parameters.items():
        id_, mine = ids.get(parameter, ""), [started[name] for name in live[pool] if name in started]
        older = sum(1 for image in mine if id_ and image != id_)
        called_now = Counter(names[image] for image in mine)
        found[pool] = Run(fleet.pools[pool].channel, parameter, id_, names.get(id_, ""), called_now, older)
    return found


def called(cloud: Scaling, ids: Collection[str]) -> dict[str, str]:
    """The bake's name of each image, else its id."""
    known = cloud.images(ids)
    return {id_: known[id_].name if id_ in known else id_ for id_ in ids}


def wanted(session: Session, pool: str) -> Wanted:
    """Raises LandbridgeError where the pool's next machine could not start, or not from what the fleet file says."""
    region = str(session.world.fleet.pools[pool].region)
    cloud = scaling.at(session, region)
    parameter = cloud.parameter(pool)
    version, starts = cloud.template(pool)
    id_ = cloud.values([parameter]).get(parameter, "")
    ought = cloud.starts(parameter, id_)
    if ought and starts != ought:
        raise LandbridgeError(
            f"The machines of {pool} start from {starts}, and by the fleet file from {ought}. "
            f"`landbridge up {pool}{session.place.options}` first."
        )
    if not id_:
        raise LandbridgeError(f"No machine of {pool} can start: nothing has been promoted to {parameter} in {region}.")
    image = cloud.images([id_]).get(id_)
    if image is None:
        raise LandbridgeError(f"No machine of {pool} can start: {id_}, which {parameter} names, is not in {region}.")
    if reasons := list(unfit(session.world.fleet, pool, image)):
        what = ", and ".join(what for what, _ in reasons)
        raise LandbridgeError(f"The image {id_} ({parameter}) {what}. {'. '.join(remedy for _, remedy in reasons)}.")
    return Wanted(parameter, id_, image.name, version)


def unfit(fleet: Fleet, pool: str, image: Image) -> Iterable[tuple[str, str]]:
    """What `up` would refuse at preview, too."""
    spec = fleet.pools[pool]
    kubernetes = fleet.clusters[spec.cluster].kubernetes
    now, most = datetime.datetime.now(datetime.UTC), fleet.images.max_age_days
    return refusals(kubernetes, image.kubernetes, image.created, most, now, gpus=spec.gpus, driver=image.driver)
