"""Machine types of a fleet against what the clouds offer: what would fail at its launch, told before anything is built.

Pure but for `of_stacks`, which asks.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet import shapes
from fleet.errors import FleetError, Problem
from fleet.loader import load_with_lines
from fleet.model import Fleet
from fleet.shape_book import BookShape
from fleet.world import World
from landbridge.prices.bought import Bought, bought

from .asked import Answers, Sources, ask
from .offer import Offer

# Rule of `--ignore`.
SHAPES = "shapes"
REFRESH = "if the cloud is right, run `landbridge shapes refresh` and commit what it writes"


class Wrong(NamedTuple):
    """`entry` is the path of the entry in the fleet file that should change."""

    entry: tuple[str, ...]
    what: str
    remedy: str


def wanted(machines: Iterable[Bought]) -> dict[str, list[str]]:
    """Instance types by region."""
    found = defaultdict[str, set[str]](set)
    for one in machines:
        found[one.region].add(one.instance_type)
    return {region: sorted(types) for region, types in found.items()}


def of_stacks(world: World, stacks: Collection[str], sources: Sources) -> list[str]:
    """Asks for all types that these stacks use. Returns what could not be compared, for people. Raises FleetError."""
    machines = [one for one in bought(world.fleet) if one.stack in stacks]
    answers = ask(world.fleet, wanted(machines), sources)
    if found := [*wrong(world.fleet, machines, answers)]:
        lines, file = load_with_lines(world.path).lines, world.path.name
        raise FleetError(Problem(file, lines.of(one.entry), one.what, one.remedy) for one in dict.fromkeys(found))
    away = answers.away.items()
    return [f"{region}: machine types are not compared with the cloud's: {why}." for region, why in away]


def wrong(fleet: Fleet, machines: Iterable[Bought], answers: Answers) -> Iterator[Wrong]:
    """Every problem once; nothing of regions that did not answer."""
    for one in machines:
        if (offers := answers.offers.get(one.region)) is not None:
            yield from _of(fleet, one, offers.get(one.instance_type))


def _of(fleet: Fleet, one: Bought, offer: Offer | None) -> Iterator[Wrong]:
    cloud = {"aws": "AWS", "azure": "Azure"}[fleet.regions[one.region].cloud]
    where = f"{one.what} needs {one.instance_type} in {one.region}"
    other = f"Choose {_choice(one)}"
    if offer is None:
        yield Wrong(one.entry, f"{where}, and {cloud} does not offer it there", other)
        return
    if offer.restricted:
        yield Wrong(one.entry, f"{where}, and it is {offer.restricted}", f"Have {cloud}'s support open it. Or {other}")
        return
    if offer.unfit:
        yield Wrong(one.entry, f"{where}, and {offer.unfit}", other)
    if (way := "spot" if one.spot else "on demand") not in offer.ways:
        yield Wrong(one.entry, f"{where} {way}, and {cloud} does not sell it so", other)
    yield from _zones(one, offer, where)
    yield from _counts(fleet, one, offer.shape, cloud)


def _choice(one: Bought) -> str:
    """What the entry may say instead."""
    ways = {
        "pools": "another instance_type, or another region for the pool",
        "clusters": f"another size for cluster {one.entry[1]}, or another region for it",
        "regions": "laptops: false, or another region for them",
    }
    return ways[one.entry[0]]


def _zones(one: Bought, offer: Offer, where: str) -> Iterator[Wrong]:
    """A region of Azure without zones offers none, and its fleet has none either."""
    offered = offer.shape.zones or ()
    lacking = {zone: "it is not offered there" for zone in one.zones if zone not in offered}
    lacking |= {zone: f"it is {why}" for zone, why in offer.restricted_zones.items() if zone in one.zones}
    left = [zone for zone in offered if zone not in offer.restricted_zones]
    for zone, why in lacking.items():
        place = "zones of the pool" if one.entry[0] == "pools" else f"zones of {one.region}"
        remedy = f"Choose {place} out of {', '.join(left)}, or {_choice(one)}" if left else f"Choose {_choice(one)}"
        yield Wrong(one.entry, f"{where}, zone {zone}, and {why}", remedy)


def _counts(fleet: Fleet, one: Bought, told: BookShape, cloud: str) -> Iterator[Wrong]:
    """The pool's own number, and that which all else goes by."""
    if one.entry[0] == "pools" and (gpus := fleet.pools[one.entry[1]].gpus) and gpus != told.gpus:
        what = f"pool {one.what} says gpus: {gpus}, and a {one.instance_type} has {told.gpus} to {cloud}"
        yield Wrong(("pools", one.entry[1], "gpus"), what, f"Write gpus: {told.gpus}, or choose another instance_type")
    known = shapes.listed(fleet, one.region, one.instance_type)
    if known is None:
        return
    for name, words in COUNTS.items():
        ours, theirs = getattr(known.shape, name), getattr(told, name)
        if ours != theirs:
            what = f"{one.what}: a {one.instance_type} has {ours} {words} to {known.source}, and {theirs} to {cloud}"
            yield Wrong(one.entry, what, f"Choose another type, or, {REFRESH}")


# What machines and quotas are reckoned with.
COUNTS: Mapping[str, str] = {"cpus": "vCPUs", "memory_gib": "GiB of memory", "gpus": "GPUs", "efa": "cards with EFA"}
