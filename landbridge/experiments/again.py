"""A run once more, from its record: the same code, image and arguments, months later too."""

from collections.abc import Sequence

from landbridge.access.person import Person
from landbridge.errors import UsageError

from .hosts import Hosts
from .launching import FORMAT, create, made_up, now
from .manifest import Launched
from .spec import Run
from .store import Records
from .templates import Template


def again(person: Person, name: str, more: Sequence[str]) -> Launched:
    """`more` are arguments that are added. Raises UsageError and LandbridgeError."""
    records = Records(person)
    record = records.read(name)
    if record["format"] != FORMAT:
        raise UsageError(f"{name} was recorded in form {record['format']}, and this version reads {FORMAT}.")
    run = Run.model_validate(record["run"])
    run = run.model_copy(update={"command": [*run.command, *more]})
    made = made_up(name.rpartition("-")[0] or name)
    new = {
        **record,
        "run": run.model_dump(mode="json", exclude={"name"}),
        "name": made,
        "person": person.name,
        "cluster": person.cluster,
        "of": name,
        "launched": now(),
    }
    launched = Launched(
        run,
        made,
        person.team,
        person.name,
        record["image"],
        Hosts(record["hosts"], record["gpus_per_host"]),
        Template.model_validate(record["template"]),
        tuple(record["places"]),
        record["code"],
        new,
    )
    create(person, launched, records)
    return launched
