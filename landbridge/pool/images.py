"""Which images pools start from and run: what their channels name now, and what their machines came of."""

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from components.pools.names import Names
from fleet.image_names import RESOLVE, of_pool
from fleet.images import DRIVER, NAME, TAG, refusals
from fleet.model import Fleet

from ..cluster.session import Session
from ..errors import LandbridgeError
from . import groups as scaling
from .sizes import Group, Machine

# SSM takes so many names in one question (GetParameters).
NAMES = 10


class Wanted(NamedTuple):
    """What a pool's next machine starts from: `parameter` names the image `id`, whose bake called it `name`; `template`
    is the newest version of the launch template.
    """

    parameter: str
    id: str
    name: str
    template: str

    @property
    def told(self) -> str:
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
    fleet = session.world.fleet
    parameters = {pool: of_pool(fleet, pool) for pool in pools}
    ids = values(session, region, parameters.values())
    live = {pool: [one.name for group in groups for one in group.live] for pool, groups in pools.items()}
    told = scaling.instances(session, region, [name for names in live.values() for name in names])
    started = {name: str(one["ImageId"]) for name, one in told.items()}
    names = called(session, region, {*ids.values(), *started.values()})
    found = {}
    for pool, parameter in parameters.items():
        id_, mine = ids.get(parameter, ""), [started[name] for name in live[pool] if name in started]
        older = sum(1 for image in mine if id_ and image != id_)
        called_now = Counter(names[image] for image in mine)
        found[pool] = Run(fleet.pools[pool].channel, parameter, id_, names.get(id_, ""), called_now, older)
    return found


def values(session: Session, region: str, parameters: Iterable[str]) -> dict[str, str]:
    """Image ids by parameter, of those that are set. Raises RegionError."""
    ssm, found = session.at(region)("ssm"), dict[str, str]()
    with scaling.asking(region):
        for some in scaling.chunks(sorted(set(parameters)), NAMES):
            found |= {one["Name"]: str(one["Value"]) for one in ssm.get_parameters(Names=some)["Parameters"]}
    return found


def described(session: Session, region: str, ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """What EC2 says of those of the account's own images that it still knows. Raises RegionError."""
    chosen = [{"Name": "image-id", "Values": sorted(ids)}]
    with scaling.asking(region):
        listed = session.at(region)("ec2").describe_images(Owners=["self"], Filters=chosen)["Images"] if ids else []
    return {one["ImageId"]: one for one in listed}


def called(session: Session, region: str, ids: Collection[str]) -> dict[str, str]:
    """The bake's name of each image: its tag's, else its own, else its id."""
    known = described(session, region, ids)
    return {id_: tags(known.get(id_, {})).get(NAME) or str(known.get(id_, {}).get("Name") or id_) for id_ in ids}


def tags(image: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in image.get("Tags", ())}


def wanted(session: Session, pool: str) -> Wanted:
    """Raises LandbridgeError where the pool's next machine could not start, or not from what the fleet file says."""
    fleet, parameter = session.world.fleet, of_pool(session.world.fleet, pool)
    region = str(fleet.pools[pool].region)
    version, starts = template(session, region, pool)
    local = " --local" if session.place.world == "local" else ""
    if starts != RESOLVE + parameter:
        raise LandbridgeError(
            f"The machines of {pool} start from {starts}, and by the fleet file from {RESOLVE}{parameter}. "
            f"`landbridge up {pool}{local}` first."
        )
    if not (id_ := values(session, region, [parameter]).get(parameter, "")):
        raise LandbridgeError(f"No machine of {pool} can start: nothing has been promoted to {parameter} in {region}.")
    image = described(session, region, [id_]).get(id_)
    if image is None:
        raise LandbridgeError(f"No machine of {pool} can start: {id_}, which {parameter} names, is not in {region}.")
    if told := list(unfit(fleet, pool, image)):
        what = ", and ".join(what for what, _ in told)
        raise LandbridgeError(f"The image {id_} ({parameter}) {what}. {'. '.join(remedy for _, remedy in told)}.")
    return Wanted(parameter, id_, tags(image).get(NAME) or str(image.get("Name") or id_), version)


def unfit(fleet: Fleet, pool: str, image: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What `up` would refuse at preview, too."""
    told, marked = fleet.pools[pool], tags(image)
    kubernetes, created = fleet.clusters[told.cluster].kubernetes, str(image.get("CreationDate", ""))
    now, most = datetime.datetime.now(datetime.UTC), fleet.images.max_age_days
    return refusals(kubernetes, marked.get(TAG), created, most, now, gpus=told.gpus, driver=marked.get(DRIVER))


def template(session: Session, region: str, pool: str) -> tuple[str, str]:
    """The newest version of a pool's launch template, and what it starts machines from. Raises RegionError."""
    name = Names(session.world.fleet).template(pool)
    with scaling.asking(region):
        told = session.at(region)("ec2").describe_launch_template_versions(
            LaunchTemplateName=name, Versions=["$Latest"]
        )
    (newest,) = told["LaunchTemplateVersions"]
    return str(newest["VersionNumber"]), str(newest["LaunchTemplateData"].get("ImageId", ""))
