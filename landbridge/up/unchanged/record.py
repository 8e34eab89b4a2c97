"""What a stack's last good run read, and what it left: one file a stack, and how it is compared with now."""

import datetime
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from fleet import reads, witness
from fleet.address.ledger import ledger_path
from fleet.world import World
from landbridge.places import Place
from stacks.engine_calls import LOOKUP, REFERENCE

# Another form of record is none.
FORM = 1


@dataclass(frozen=True)
class Record:
    """Digests of what was read, by what; of the state and of what surrounds all stacks. `day` is UTC's.

    `lookups` are JSON texts of what a cloud was asked. `warnings` are the run's, to be told again.
    """

    day: str
    surroundings: dict[str, str]
    state: str
    parts: list[tuple[list[str], str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    looks: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    lookups: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    form: int = FORM


def today() -> str:
    """Certificates, images and tokens age by days: a record holds for its own."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:32]


def state_digest(state: Mapping[str, Any] | None) -> str:
    """Of a deployment, less the time it was written at."""
    return digest({key: value for key, value in (state or {}).items() if key != "manifest"})


def read_witness(file: Path) -> list[tuple[str, Any, str]]:
    """Its lines; a half one, of a program that was killed, makes it `unknown`."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return [(witness.UNKNOWN, "all of it: its program wrote nothing down", "")]
    found: list[tuple[str, Any, str]] = []
    for line in lines:
        try:
            kind, what, was = json.loads(line)
        except ValueError:
            kind, what, was = witness.UNKNOWN, "a line that was not finished", ""
        found.append((kind, what, was))
    if not any(kind == witness.PART for kind, _, _ in found):
        found.append((witness.UNKNOWN, "all of it: no program of ours", ""))
    return found


def made(
    lines: Iterable[tuple[str, Any, str]],
    world: World,
    passed: Mapping[str, str],
    surroundings: dict[str, str],
    state: Mapping[str, Any],
    references: Mapping[str, str],
    warnings: Iterable[str],
) -> Record:
    """`passed` is the environment that the program was started with, `references` digests of all stacks' outputs."""
    record = Record(today(), surroundings, state_digest(state), warnings=list(warnings))
    # Parts of these two are told one by one.
    whole = {str(world.path), str(ledger_path(world.path))}
    for kind, what, was in lines:
        if kind == witness.PART:
            record.parts.append((what, was))
        elif kind == witness.FILE and what not in whole:
            record.files[what] = was
        elif kind == witness.STAT and what not in whole:
            record.looks[what] = was
        elif kind == witness.VARIABLE:
            record.variables[what] = variable(passed, what)
        elif kind == REFERENCE:
            stack = what.rpartition("/")[2]
            record.references[stack] = references[stack]
        elif kind == LOOKUP:
            record.lookups[json.dumps(what, sort_keys=True)] = was
        elif kind == witness.UNKNOWN:
            record.unknown.append(what)
    return record


def variable(passed: Mapping[str, str], name: str) -> str:
    """A digest of what a program that asks for it gets; the engine's own variables are none of the user's."""
    if name == "*" or name not in passed:
        return ""
    return digest(passed[name])


def changed(
    record: Record, world: World, passed: Mapping[str, str], surroundings: Mapping[str, str], state: Mapping[str, Any]
) -> str:
    """What is another one than at the record's run, in words, of all that this computer knows; empty if nothing is.

    Outputs of other stacks and look-ups are `others`' and `known`'s to compare.
    """
    found = chain(
        itself(record, state),
        around(record, surroundings),
        of_fleet(record, world),
        of_files(record),
        (f"${name} changed" for name, value in record.variables.items() if variable(passed, name) != value),
    )
    return next(found, "")


def itself(record: Record, state: Mapping[str, Any]) -> Iterator[str]:
    if record.form != FORM:
        yield "the record is of another version"
    if record.unknown:
        yield f"its program reads {record.unknown[0]}"
    if record.day != today():
        yield f"the last run was on {record.day}"
    if record.state != state_digest(state):
        yield "its state is another one"


def around(record: Record, surroundings: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*record.surroundings, *surroundings}):
        if record.surroundings.get(name) != surroundings.get(name):
            yield f"{name} changed"


def of_fleet(record: Record, world: World) -> Iterator[str]:
    for read_, was in record.parts:
        if reads.digest_of(world.fleet, world.plan, tuple(read_)) != was:
            yield f"{world.path.name}: {'.'.join(read_[1:]) or 'the address plan'} changed"


def of_files(record: Record) -> Iterator[str]:
    for path, was in record.files.items():
        if witness.digest_of_file(path) != was:
            yield f"{path} changed"
    for path, was in record.looks.items():
        if (witness.THERE if os.path.lexists(path) else "") != was:
            yield f"{path} {'is gone' if was else 'is there now'}"


def others(record: Record, references: Mapping[str, str]) -> str:
    """The stack whose outputs are other ones, in words."""
    return next(
        (f"outputs of {stack} changed" for stack, was in record.references.items() if references.get(stack) != was),
        "",
    )


def write(file: Path, record: Record) -> None:
    draft = file.with_suffix(f".{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(asdict(record)))
    draft.replace(file)


def read(file: Path) -> Record | None:
    try:
        return Record(**json.loads(file.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def file_of(place: Place, stack: str) -> Path:
    """Where a stack's record lies. It is there from a run that ended well until the next one changes something."""
    return place.logs / f"{stack}.read.json"
