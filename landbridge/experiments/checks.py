"""What is refused before anything is created. All raise UsageError, which says where it was said and what to do."""

import re

from fleet import team_queues
from landbridge.access.person import Person
from landbridge.errors import UsageError

from . import registry
from .offer import Offer
from .spec import LONGEST_NAME, Given
from .states import JOB_SETS

SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:-]*(@sha256:[0-9a-f]{64})?")


def team(person: Person) -> None:
    own = person.team
    teams = team_queues.of_cluster(person.world.fleet, person.cluster)
    if own not in teams:
        raise UsageError(
            f"{person.world.path.name}: team {own} has no queue in {person.cluster}. "
            + (f"Teams with one: {', '.join(teams)}. " if teams else "")
            + f"Give it one: teams.{own}.queues: {{{person.cluster}: {{gpus: 8}}}}, then "
            f"`landbridge up{person.place.options}`."
        )


def share(given: Given, person: Person) -> None:
    if (wanted := given.run.checkpoints) and wanted not in person.world.fleet.storage.shares:
        known = ", ".join(person.world.fleet.storage.shares) or "none"
        raise UsageError(f"{given.at('checkpoints')}: the fleet has no share {wanted}. It has {known}.")


def secrets(given: Given, person: Person) -> None:
    """What stands in a run can be read by whoever sees it, and stays in its record."""
    how = f"`kubectl --namespace {person.namespace} create secret generic NAME --from-env-file=FILE`"
    hidden = [name for name in given.run.environment if SECRET.search(name)]
    if hidden:
        raise UsageError(
            f"{given.at('environment')}: {', '.join(hidden)} looks like a secret, and variables of a run are no place "
            f"for one. Keep it in a Secret, made with {how}, and name that with --secret NAME."
        )
    for name in given.run.secrets:
        if person.kube.find("secret", name, f"--namespace={person.namespace}") is None:
            raise UsageError(
                f"{given.at('secrets')}: there is no Secret {name} in {person.namespace}. Make it with {how}."
            )


def price(given: Given, offered: Offer) -> None:
    most, chosen = given.run.max_price, offered.chosen
    if most is None or chosen is None:
        return
    if chosen.usd_an_hour is None:
        raise UsageError(
            f"{given.at('max_price')}: nobody has said what machines of {chosen.pool} cost. Say it in the fleet file, "
            f"regions.{chosen.place}.prices, or leave --max-price out."
        )
    if chosen.usd_an_hour > most:
        raise UsageError(
            f"{given.at('max_price')}: it would cost ${chosen.usd_an_hour:.2f} an hour in {chosen.place}, and "
            f"${most:g} is the most. Ask for fewer GPUs or more money."
        )


def image(given: Given, person: Person) -> tuple[str, str]:
    """Its name with the digest that it stands for now, and what to say where nobody tells that.

    Raises UsageError for one that is not there.
    """
    wanted, at = given.run.image or person.world.fleet.images.runs, given.at("image")
    if wanted is None:
        raise UsageError(
            f"Which image? Name one with --image, or for everybody in {person.world.path.name}: "
            "images: {runs: docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime}."
        )
    if given.run.image is None:
        at = f"{person.world.path.name}: images.runs"
    if not IMAGE.fullmatch(wanted):
        raise UsageError(f"{at}: {wanted!r} is no image's name. It has the form REGISTRY/NAME:TAG.")
    try:
        found = registry.digest(wanted)
    except registry.AbsentError as absent:
        raise UsageError(f"{at}: {absent}. Push it there, or name another one.") from None
    except registry.SilentError as silent:
        return wanted, f"{silent}: whether {wanted} is there is not known, and its tag may name another image later."
    return wanted if "@" in wanted else f"{wanted}@{found}", ""


def name(given: Given, person: Person, chosen: str) -> None:
    if len(chosen) > LONGEST_NAME:
        raise UsageError(f"{given.at('name')}: {chosen} has {len(chosen)} characters, and {LONGEST_NAME} are the most.")
    if person.kube.find(JOB_SETS, chosen, f"--namespace={person.namespace}"):
        raise UsageError(
            f"{given.at('name')}: there is a run {chosen} already. Choose another one, or leave --name out."
        )
