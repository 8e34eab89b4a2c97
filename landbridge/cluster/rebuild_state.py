"""How far the rebuild of a cluster is, from what stands; and why there is nothing to rebuild, or not from this."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from components.control_plane.pki import Generations
from components.control_plane.rotation import refusals
from fleet import kubernetes_versions
from fleet import rebuilds as rebuilt_file
from fleet.rebuilds import Origin, Origins
from fleet.world import World
from landbridge.errors import UsageError
from stacks.catalogue import StackSpec

from .info import STACK
from .surviving_copies import Keys

# begin: nothing is done · keys: the origin file says what is wanted · stack: the lost stack is put aside · done
Stage = Literal["begin", "keys", "stack", "done"]


class Standing(NamedTuple):
    """What the state of a cluster's stack says: its region, version, API and keys. Empty where it says nothing.

    `copies` is the region that has copies, under the name `secret` those of the keys.
    """

    region: str = ""
    endpoint: str = ""
    authority: str = ""
    kubernetes: str = ""
    copies: str = ""
    secret: str = ""
    generations: Mapping[str, Generations] = {}


def standing(state: Mapping[str, Any] | None) -> Standing:
    """Of a stack's deployment."""
    resources = (state or {}).get("resources") or ()
    outputs: Mapping[str, Any] = next((one.get("outputs") or {} for one in resources if one["type"] == STACK), {})
    region, endpoint, authority, version = (str(outputs.get(name, "")) for name in Standing._fields[:4])
    keys, copies = outputs.get("generations") or {}, outputs.get("copies") or {}
    generations = {n: Generations(tuple(map(int, at["trusted"])), int(at["signing"])) for n, at in keys.items()}
    return Standing(
        region, endpoint, authority, version, copies.get("region", ""), copies.get("recovery_secret", ""), generations
    )


def suffix(region: str) -> str:
    """What the stack of a cluster is called by, beside its name, when its region is lost."""
    return f"-lost-{region}"


def of_fleet(world: World) -> list[StackSpec]:
    """The stacks that rebuilds have put aside, to be destroyed when their region is back."""
    return asides(rebuilt_file.load(rebuilt_file.rebuilds_path(world.path)))


def asides(origins: Origins) -> list[StackSpec]:
    """Those that an origin file tells of."""
    return [StackSpec(f"{c}{suffix(o.lost)}", "cluster", o.lost, (o.lost,)) for c, o in origins.items()]


def stage(name: str, region: str, origin: Origin | None, here: Standing, *, aside: bool) -> Stage:
    """`here` is the stack of that name, `aside` whether there is one that was put aside. Raises UsageError."""
    if origin and origin.restored is None and origin.region != region:
        raise UsageError(
            f"The rebuild of {name} in {origin.region} was begun and is not finished, and fleet.yaml says {region} by "
            f"now. Write region: {origin.region} again and run the command, which goes on there."
        )
    if origin and origin.region == region:
        if origin.restored:
            return "done"
        return "keys" if here.region == origin.lost and not aside else "stack"
    if not here.region:
        raise UsageError(f"There is no stack of {name} that was ever up: `landbridge up {name}` makes a new cluster.")
    if here.region == region:
        raise UsageError(
            f"{name} stands in {region}, and fleet.yaml has it there, too: nothing is to be rebuilt. If {region} is "
            f"lost, write the region that has the copies under clusters.{name}.region and take `copies` away (or name "
            "a third region), run `landbridge plan --write`, then this again."
        )
    return "begin"


def unfit(before: Standing, kubernetes: str, wanted: Mapping[str, Generations], keys: Keys) -> Iterator[str]:
    """Why the cluster can't go on with this version, or with these keys as fleet.pki.yaml wants."""
    if why := kubernetes_versions.refusal(before.kubernetes or None, kubernetes):
        yield why
    yield from refusals(before.generations, wanted)
    for subject, at in wanted.items():
        generations = keys.generations.get(subject, ())
        if at.signing not in generations:
            yield (
                f"{subject} signs with generation {at.signing}, and the copied keys have "
                f"{', '.join(map(str, generations)) or 'none'}: they are older than its last rotation"
            )


def lacking(
    name: str, region: str, place: str, before: Standing, newest: Mapping[str, str], secrets: Sequence[str]
) -> str:
    """Why nothing can be rebuilt in a region: what is wanted, and what is there instead.

    `place` is where snapshots ought to be, `newest` the last one there is of each region, `secrets` those with keys.
    """
    present = [f"newest snapshot of {home}: {key}" for home, key in newest.items()] or ["no snapshot"]
    present.append(f"secrets {', '.join(secrets)}" if secrets else "no secret with keys")
    if before.copies and before.copies != region:
        why = f"Its stack says that copies go to {before.copies}: write that region under clusters.{name}.region."
    elif before.copies:
        why = "Its stack says that copies go there: were they deleted, or was the first not made yet?"
    else:
        why = f"Its stack made none: clusters.{name}.copies named no region when it was last up."
    return (
        f"Nothing was changed: {region} has not what {name} can be rebuilt from. Wanted: a snapshot in {place} and the "
        f"secret {before.secret or 'with its keys'}. There: {'; '.join(present)}. {why}"
    )
