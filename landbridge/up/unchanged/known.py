"""What one run over stacks knows of them before it starts an engine: which ones it can leave out."""

import contextlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pulumi.automation import CommandError

from fleet.world import World
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import STACK_TYPE
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from stacks import engine_calls
from stacks.catalogue import StackSpec

from .. import recovery
from . import record as records
from .record import Record
from .surroundings import settings_of, surroundings

State = Mapping[str, Any] | None
# Backends that are asked over a network: so many stacks at a time.
ASKERS = 8


@dataclass
class Known:
    """Of the stacks of one fleet in one place, each after those that it reads from."""

    world: World
    place: Place
    stacks: Mapping[str, StackSpec]
    engines: Mapping[str, StackEngine]
    command: str
    full: bool = False
    valid: dict[str, Record] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> dict[str, str]:
        """What a stack's program has in its environment, but for what the engine adds."""
        return {**os.environ, **self.place.environment}

    @cached_property
    def around(self) -> dict[str, str]:
        return surroundings(self.place, self.passed, self.command)

    def around_of(self, name: str) -> dict[str, str]:
        return self.around | settings_of(self.place, name)

    def look(self) -> None:
        """Finds out whose records hold: `valid` has them, `why` says what keeps the others from it."""
        if self.full:
            self.why = dict.fromkeys(self.engines, "asked for by --full or --refresh")
            return
        with ThreadPoolExecutor(ASKERS) as pool:
            states = dict(zip(self.engines, pool.map(self.state, self.engines), strict=True))
        for name, state in states.items():
            found = records.read(self.file(name))
            self.why[name] = self.against(name, found, state)
            if found and not self.why[name]:
                self.valid[name] = found
        self.compare_others(states)
        self.ask_again(states)
        self.follow()

    def against(self, name: str, found: Record | None, state: State) -> str:
        if found is None or not state:
            return "no run of it is on record"
        if recovery.pending(state):
            return "its last run was killed"
        return records.changed(found, self.world, self.passed, self.around_of(name), state)

    def compare_others(self, states: Mapping[str, State]) -> None:
        referred = {stack for one in self.valid.values() for stack in one.references}
        digests = {stack: outputs_digest(states[stack] if stack in states else self.state(stack)) for stack in referred}
        self.drop({name: records.others(one, digests) for name, one in self.valid.items()})

    def ask_again(self, states: Mapping[str, State]) -> None:
        lookups = {text: states[name] or {} for name, one in self.valid.items() for text in one.lookups}
        if not lookups:
            return
        from . import plugins  # imports gRPC

        answers = plugins.again(self.place, self.passed, lookups)

        def changed(one: Record) -> str:
            lost = (text for text, before in one.lookups.items() if answers[text] != before)
            return next((f"{json.loads(text)['tok']} says something else" for text in lost), "")

        self.drop({name: changed(one) for name, one in self.valid.items()})

    def follow(self) -> None:
        """What may change in this run is changed before those that read it, and these have to be judged, too."""
        for name, spec in self.stacks.items():
            if name in self.valid and (before := [one for one in spec.depends_on if self.why.get(one)]):
                self.drop({name: f"it reads from {before[0]}, which is looked at again"})

    def drop(self, why: Mapping[str, str]) -> None:
        for name, text in why.items():
            if text:
                del self.valid[name]
                self.why[name] = text

    def state(self, stack: str) -> State:
        """None also for one that can't be read: whoever needs it tells why."""
        engine = self.engines.get(stack) or StackEngine(stack, self.place, next(iter(self.engines.values())).command)
        try:
            return engine.state()
        except (LandbridgeError, CommandError):
            return None

    def begin(self, name: str) -> str:
        """Before the engine runs for a stack: where its programs are to write down what they read."""
        file = self.witness(name)
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
        return str(file)

    def forget(self, name: str) -> None:
        """Before anything of a stack is changed."""
        with contextlib.suppress(FileNotFoundError):
            self.file(name).unlink()

    def keep(self, name: str, warnings: list[str]) -> None:
        """After a good run of a stack: the next one may be left out."""
        state = self.engines[name].state()
        if not state or recovery.pending(state):
            return
        lines = records.read_witness(self.witness(name))
        referred = {what.rpartition("/")[2] for kind, what, _ in lines if kind == engine_calls.REFERENCE}
        digests = {stack: outputs_digest(self.state(stack)) for stack in referred}
        made = records.made(lines, self.world, self.passed, self.around_of(name), state, digests, warnings)
        records.write(self.file(name), made)

    def file(self, name: str) -> Path:
        return records.file_of(self.place, name)

    def witness(self, name: str) -> Path:
        return self.place.logs / f"{name}.reads"


def outputs(state: State) -> dict[str, Any]:
    """What a stack publishes, as its state has it."""
    found = (state or {}).get("resources") or ()
    return next((dict(one.get("outputs") or {}) for one in found if one["type"] == STACK_TYPE), {})


def outputs_digest(state: State) -> str:
    return records.digest(outputs(state))
