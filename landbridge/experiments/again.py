"""A run once more, from its record: the same code, image and arguments, months later and in another cluster, too."""

from collections.abc import Mapping, Sequence
from typing import Any

from landbridge.access.person import Person
from landbridge.errors import UsageError

from . import checks
from .hosts import Hosts
from .launching import FORMAT, create, made_up, now, offered_to, places_of
from .manifest import Launched
from .spec import Given, Run
from .store import Records
from .templates import Template


def again(person: Person, name: str, more: Sequence[str]) -> Launched:
    """`more` are arguments that are added. Raises UsageError and LandbridgeError."""
    records = Records(person)
    record = records.read(name)
    launched = from_record(person, record, made_up(name.rpartition("-")[0] or name), more)
    launched = launched._replace(record={**launched.record, "of": name})
    create(person, launched, records)
    return launched


def from_record(person: Person, record: Mapping[str, Any], name: str, more: Sequence[str] = ()) -> Launched:
    """What was launched before, as `name` in the cluster of `person`: places are what can be had there now.

    Raises UsageError.
    """
    if record["format"] != FORMAT:
        raise UsageError(f"{record['name']} was recorded in form {record['format']}, and this version reads {FORMAT}.")
    run = Run.model_validate(record["run"])
    run = run.model_copy(update={"command": [*run.command, *more]})
    hosts, given = Hosts(record["hosts"], record["gpus_per_host"]), Given(run, "", {})
    checks.team(person)
    checks.share(given, person)
    checks.secrets(given, person)
    places = places_of(run, offered_to(given, person, hosts))
    new = {
        **record,
        "run": run.model_dump(mode="json", exclude={"name"}),
        "name": name,
        "person": person.name,
        "cluster": person.cluster,
        "places": places,
        "kubernetes": person.spec.cluster.kubernetes,
        "launched": now(),
    }
    form = Template.model_validate(record["template"])
    return Launched(run, name, person.team, person.name, record["image"], hosts, form, places, record["code"], new)
