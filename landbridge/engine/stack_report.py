"""What happens to one stack, told by the engine's events: steps, progress, problems, outputs."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from pulumi.automation import EngineEvent, OpType, StepEventMetadata
from pulumi.automation.events import StepEventStateMetadata

Ended = Literal["done", "unchanged", "failed", "stopped", "skipped"]
Phase = Literal["waiting", "preview", "resume", "update", "bootstrap", "joining", "destroy", "look", Ended]
# What a stack rests in; all else is work, and counts its own steps.
ENDED: tuple[Phase, ...] = get_args(Ended)
GIVEN_UP: tuple[Phase, ...] = ("failed", "stopped", "skipped")
RESTING: tuple[Phase, ...] = ("waiting", *ENDED)
# Work that belongs to the work before it: what that has counted stays.
GOING_ON: tuple[Phase, ...] = ("bootstrap", "joining")

# The engine's operations in the five words people use; halves of a replacement are missing, "replace" counts it.
VERBS = {
    "create": "created",
    "import": "created",
    "update": "updated",
    "replace": "replaced",
    "import-replacement": "replaced",
    "delete": "deleted",
    "discard": "deleted",
    "same": "same",
}
STACK_TYPE = "pulumi:pulumi:Stack"
CREATIONS = (OpType.CREATE, OpType.CREATE_REPLACEMENT)
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # how the engine writes an unknown text
SECRET, SECRET_MARK = "[secret]", "4dabf18193072939515e22adb298388d"
# The engine's warnings about nothing.
IDLE_WARNINGS = re.compile(r"^using pulumi-language-python from \$PATH")
COLOURS = re.compile(r"<\{%.*?%\}>")


class Step(NamedTuple):
    """One resource and what becomes of it. `properties` are those it has, or had when it goes away."""

    verb: str
    type: str
    name: str
    protected: bool
    changed: tuple[str, ...]
    properties: Mapping[str, Any]
    retained: bool = False  # it stays in the cloud when the stack loses it


class Problem(NamedTuple):
    """An error as the engine told it: of one resource, or of the stack when `name` is empty."""

    type: str
    name: str
    message: str


@dataclass
class StackReport:
    """One stack in one run. Written by the engine's events, read by the progress view meanwhile."""

    stack: str
    phase: Phase = "waiting"
    working_since: float | None = None
    worked_seconds: float = 0.0
    finished: int = 0
    total: int = 0
    current: str = ""
    steps: list[Step] = field(default_factory=list)
    drift: list[Step] = field(default_factory=list)
    reading: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    # Begun, and not seen to have succeeded.
    creating: dict[str, StepEventStateMetadata] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    violations: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    outputs_changed: bool = False
    diff: str = ""
    because: str = ""
    engine: bool = True
    why: str = ""

    def enter(self, phase: Phase, total: int = 0) -> None:
        """A new phase. Work starts its counts from nothing; rest keeps those of the work before it."""
        self.worked_seconds, self.working_since = self.elapsed, None
        if phase not in RESTING:
            self.working_since = time.monotonic()
        if phase not in (*RESTING, *GOING_ON):
            self.total, self.finished, self.current = total, 0, ""
            self.steps, self.drift, self.counts = [], [], Counter()
            self.reading, self.ended, self.creating = set(), set(), {}
        self.phase = phase

    @property
    def elapsed(self) -> float:
        """Seconds of work so far; waiting for others or for an answer is none."""
        since = self.working_since
        return self.worked_seconds + (time.monotonic() - since if since is not None else 0.0)

    @property
    def changes(self) -> int:
        return sum(n for verb, n in self.counts.items() if verb != "same")

    def leave_out(self, resources: int, outputs: Mapping[str, Any], warnings: Iterable[str]) -> None:
        """No engine runs for it: it is as its state says."""
        self.engine, self.total, self.finished = False, resources, resources
        self.counts["same"] = resources
        self.outputs = shown(outputs)
        self.warnings += warnings
        self.enter("unchanged")

    def hear(self, event: EngineEvent) -> None:
        if event.resource_pre_event:
            self.hear_begin(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self.hear_end(event.res_outputs_event.metadata)
        elif diagnostic := event.diagnostic_event:
            message = COLOURS.sub("", diagnostic.message).strip()
            if diagnostic.severity == "error":
                self.problems.append(Problem(*of_urn(diagnostic.urn), message))
            elif diagnostic.severity == "warning":
                self.warn(message)
        elif violation := event.policy_event:
            self.hear_policy(violation)

    def hear_policy(self, violation: Any) -> None:
        type_, name = of_urn(violation.resource_urn)
        # The policy's description comes first, and the resource once more before what is wrong with it.
        text = COLOURS.sub("", violation.message).strip().rpartition("\n")[2].removeprefix(f"{type_} {name}: ")
        message = f"{text} (policy {violation.policy_name})"
        if violation.enforcement_level == "mandatory":
            self.violations.append(Problem(type_, name, message))
        else:
            self.warn(message)

    def warn(self, message: str) -> None:
        if message not in self.warnings and not IDLE_WARNINGS.match(message):
            self.warnings.append(message)

    def hear_begin(self, step: StepEventMetadata) -> None:
        if step.type == STACK_TYPE:
            return
        self.current = " ".join((short(step.type), of_urn(step.urn)[1]))
        if step.op is OpType.REFRESH:
            self.reading.add(step.urn)
        if step.op in CREATIONS and step.new and step.new.custom:
            self.creating[step.urn] = step.new

    def hear_end(self, step: StepEventMetadata) -> None:
        if step.type == STACK_TYPE:
            self.hear_outputs(step)
            return
        if step.urn in self.reading:
            self.reading.discard(step.urn)
            self.hear_read(step)
            return
        verb = VERBS.get(step.op.value)
        self.creating.pop(step.urn, None)
        if verb is None or step.urn in self.ended:  # components report their outputs once more
            return
        self.ended.add(step.urn)
        self.finished += 1
        self.counts[verb] += 1
        self.steps.append(step_of(step, verb))

    def hear_read(self, step: StepEventMetadata) -> None:
        """A resource was read again: how the cloud differs, which is no change of ours."""
        if step.new is None:
            self.drift.append(step_of(step, "deleted"))
        elif step.diffs:
            self.drift.append(step_of(step, "updated"))

    def hear_outputs(self, step: StepEventMetadata) -> None:
        if step.new is not None:
            before = known((step.old and step.old.outputs) or {})
            self.outputs = known(step.new.outputs or {})
            self.outputs_changed = before != self.outputs


def step_of(step: StepEventMetadata, verb: str) -> Step:
    state = step.old if verb in ("deleted", "replaced") else step.new or step.old
    properties = (state and (state.outputs or state.inputs)) or {}
    protected, retained = bool(step.old and step.old.protect), bool(step.old and step.old.retain_on_delete)
    return Step(verb, *of_urn(step.urn), protected, tuple(step.diffs or step.keys or ()), properties, retained)


def known(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs with None for what a preview cannot know yet."""
    return {
        key: known(value) if isinstance(value, Mapping) else None if value == UNKNOWN else value
        for key, value in outputs.items()
    }


def shown(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs as a state has them; secrets as the engine's events tell them."""
    return {
        key: (SECRET if SECRET_MARK in value else shown(value)) if isinstance(value, Mapping) else value
        for key, value in outputs.items()
    }


def of_urn(urn: str | None) -> tuple[str, str]:
    """A URN's type and name; two empty texts for none and for the stack's own."""
    if not urn:
        return "", ""
    _, _, kinds, name = urn.split("::", 3)
    type_ = kinds.rpartition("$")[2]
    return ("", "") if type_ == STACK_TYPE else (type_, name)


def short(type_: str) -> str:
    """aws:ec2/routeTable:RouteTable as ec2.RouteTable, for people."""
    package, module, name = type_.split(":")
    module = module.partition("/")[0]
    return (
        name if module == "index" else f"{module}.{name}" if package in ("aws", "azure-native") else f"{package}.{name}"
    )
