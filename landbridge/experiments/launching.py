"""Starts a run: everything is looked at first, then its code travels, then it is queued. Once, whatever happens."""

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from components.addons import controllers
from fleet import team_code
from landbridge.access.person import Person
from landbridge.cluster.kube import KubeError
from landbridge.code import folder as folders
from landbridge.code.known_packs import KnownPacks
from landbridge.code.private_files import cache_folder
from landbridge.code.ship import Shipped, ship
from landbridge.code.team_store import TeamStore
from landbridge.errors import LandbridgeError, UsageError
from landbridge.queue.look import look_at_room
from landbridge.waiting import NotYet, until

from . import checks, keys
from .hosts import Hosts, hosts
from .manifest import Launched, manifest
from .offer import Offer, offer
from .spec import LONGEST_NAME, Given, Run
from .states import JOB_SETS
from .store import Records
from .templates import template

FORMAT = 1
# Controllers that start, or an API server that does: a cluster that has just come up has them in a minute.
AWAY = re.compile(
    r"failed calling webhook|connection refused|ServiceUnavailable|timed? ?out|no answer within", re.IGNORECASE
)
AWAY_SECONDS = 120.0


class Prepared(NamedTuple):
    """What would run, and where: nothing has been created, and nothing has travelled.

    `remark` is what its people should know and nothing fails by; often empty.
    """

    person: Person
    launched: Launched
    folder: folders.Folder
    offer: Offer
    remark: str


def prepare(given: Given, person: Person, folder: Path) -> Prepared:
    """Raises UsageError, FleetError, LandbridgeError: for all that could be known before anything is created."""
    run, team = given.run, person.team
    checks.team(person)
    checks.share(given, person)
    checks.secrets(given, person)
    pools = {pool.name: pool for pool in person.spec.pools if pool.hardware.gpus}
    many, form = hosts(given, pools), template(run.template, folder)
    offered = offered_to(given, person, many)
    scanned = folders.scan(folder, folders.Limits(run.code.file_mib, run.code.tree_mib), run.code.allow)
    places = places_of(run, offered)
    name = run.name or made_up(folder.resolve().name)
    checks.name(given, person, name)
    image, remark = checks.image(given, person)
    record = {
        "format": FORMAT,
        "run": run.model_dump(mode="json", exclude={"name"}),
        "name": name,
        "team": team,
        "person": person.name,
        "cluster": person.cluster,
        "image": image,
        "hosts": many.number,
        "gpus_per_host": many.gpus,
        "places": places,
        "template": form.model_dump(mode="json"),
        "commit": scanned.commit,
        "dirty": scanned.dirty,
        "kubernetes": person.spec.cluster.kubernetes,
        "launched": now(),
    }
    launched = Launched(run, name, team, person.name, image, many, form, places, "", record)
    return Prepared(person, launched, scanned, offered, remark)


def offered_to(given: Given, person: Person, many: Hosts) -> Offer:
    """Raises UsageError for what can never be had there, or not for that money."""
    room = look_at_room(person)
    offered = offer(person.spec, room, person.team, many, room.share(person.team).waiting)
    if offered.never:
        raise UsageError(f"{given.at('gpus')}: {offered.never}.")
    checks.price(given, offered)
    return offered


def start(prepared: Prepared, progress: Callable[[int, int], None]) -> tuple[Launched, Shipped]:
    """The run is queued when this ends. `progress` hears bytes that were sent, of those to be sent.

    Raises UsageError and LandbridgeError.
    """
    person, launched = prepared.person, prepared.launched
    records = Records(person)
    store = TeamStore(records.bucket, team_code.folder(launched.team))
    known = KnownPacks(cache_folder(), person.bucket, launched.team)
    shipped = ship(prepared.folder, store, known, progress)
    code = store.where(team_code.tree_key(shipped.digest))
    record = {**launched.record, "code": code, "diff": shipped.diff}
    launched = launched._replace(code=code, record=record)
    create(person, launched, records)
    return launched, shipped


def create(person: Person, launched: Launched, records: Records) -> None:
    """The name is the run's for ever, so it is queued once: whoever asks twice is refused."""
    records.write(launched.name, launched.record)
    queue(person, launched)


def queue(person: Person, launched: Launched) -> None:
    """A run that is recorded. Raises LandbridgeError."""
    text, secret = json.dumps(manifest(launched)), keys.secret_name(launched.name)
    # First: a run whose launch ends between the two would wait for it for ever.
    if has_keys := launched.template.ssh or launched.run.redis:
        person.kube.done("create", "--filename=-", stdin=json.dumps(keys.secret(launched.name, person.namespace)))

    def created() -> bool:
        try:
            person.kube.done("create", "--filename=-", stdin=text)
        except KubeError as error:
            if "AlreadyExists" in error.result.err:
                return True  # an answer that was lost on its way
            if AWAY.search(error.result.err):
                raise NotYet(str(error)) from None
            raise LandbridgeError(f"{launched.name} was not queued: {error}") from None
        return True

    until(created, AWAY_SECONDS, 2.0, lambda ails: _away(person, launched.name, ails))
    if has_keys:
        where = f"--namespace={person.namespace}"
        owned = json.dumps(keys.owned(person.kube.get(JOB_SETS, launched.name, where)))
        person.kube.done("patch", "secret", secret, where, "--type=merge", f"--patch={owned}")


def _away(person: Person, name: str, ails: str) -> LandbridgeError:
    again = f"`landbridge runs again {name}{person.options}`"
    return LandbridgeError(
        f"{name} was not queued, for nobody answers who would queue it: {ails}\n"
        f"Its code is sent. When Kueue and JobSet are back (pods in {controllers.SPACE}), {again} queues it."
    )


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def made_up(folder: str) -> str:
    """A name that nobody else has, and that says which folder it is of."""
    end = f"-{secrets.token_hex(2)}"
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")
    if not plain[:1].isalpha():
        plain = f"run-{plain}".rstrip("-")
    return plain[: LONGEST_NAME - len(end)].rstrip("-") + end


def places_of(run: Run, offered: Offer) -> tuple[str, ...]:
    """Those it may go to: with machines that are large enough, and for no more money than is meant."""
    able = [one for one in offered.choices if one.of >= offered.hosts.total]
    most = run.max_price
    return tuple(one.place for one in able if most is None or (one.usd_an_hour is not None and one.usd_an_hour <= most))
