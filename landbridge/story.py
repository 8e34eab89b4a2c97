"""What happens to one stack, told by the engine's events: steps, progress, problems, outputs."""

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pulumi.automation import EngineEvent, StepEventMetadata

Phase = Literal["waiting", "preview", "resume", "update", "destroy", "look", "done", "unchanged", "failed", "skipped"]
# What a stack rests in; all else is work, and counts its own steps.
ENDED: tuple[Phase, ...] = ("done", "unchanged", "failed", "skipped")
RESTING: tuple[Phase, ...] = ("waiting", *ENDED)

# The engine's operations in the five words people use; what is missing here changes nothing.
VERBS = {
    "create": "created",
    "import": "created",
    "update": "updated",
    "replace": "replaced",
    "import-replacement": "replaced",
    "delete": "deleted",
    "discard": "deleted",
    "refresh": "refreshed",
    "same": "same",
}
# Halves of a replacement, which "replace" has counted.
HALVES = {"create-replacement", "delete-replaced", "discard-replaced", "read-replacement", "remove-pending-replace"}
STACK_TYPE = "pulumi:pulumi:Stack"
COLOURS = re.compile(r"<\{%.*?%\}>")


class Step(NamedTuple):
    """One resource and what becomes of it. `properties` are those it has, or had when it goes away."""

    verb: str
    type: str
    name: str
    protected: bool
    changed: tuple[str, ...]
    properties: Mapping[str, Any]


class Problem(NamedTuple):
    """An error as the engine told it: of one resource, or of the stack when `name` is empty."""

    type: str
    name: str
    message: str


@dataclass
class Story:
    """One stack in one run. Written by the engine's events, read by the progress view meanwhile."""

    stack: str
    phase: Phase = "waiting"
    started: float | None = None
    seconds: float = 0.0
    begun: int = 0
    total: int = 0
    current: str = ""
    steps: list[Step] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    violations: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    outputs_changed: bool = False
    diff: str = ""
    because: str = ""

    def enter(self, phase: Phase, total: int = 0) -> None:
        """A new phase. Work starts its counts from nothing; rest keeps those of the work before it."""
        now = time.monotonic()
        self.started = self.started or now
        self.seconds = now - self.started
        if phase not in RESTING:
            self.total, self.begun, self.current = total, 0, ""
            self.steps, self.counts = [], Counter()
        self.phase = phase

    @property
    def elapsed(self) -> float:
        """Seconds since the stack's first phase, still running until it has ended."""
        if self.started is None or self.phase in ENDED:
            return self.seconds
        return time.monotonic() - self.started

    @property
    def changes(self) -> int:
        return sum(n for verb, n in self.counts.items() if verb != "same")

    def hear(self, event: EngineEvent) -> None:
        if event.resource_pre_event:
            self.hear_step(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self.hear_outputs(event.res_outputs_event.metadata)
        elif diagnostic := event.diagnostic_event:
            message = COLOURS.sub("", diagnostic.message).strip()
            if diagnostic.severity == "error":
                self.problems.append(Problem(*of_urn(diagnostic.urn), message))
            elif diagnostic.severity == "warning" and message not in self.warnings:
                self.warnings.append(message)
        elif violation := event.policy_event:
            self.hear_policy(violation)

    def hear_policy(self, violation: Any) -> None:
        message = COLOURS.sub("", violation.message).strip()
        if violation.enforcement_level == "mandatory":
            type_, name = of_urn(violation.resource_urn)
            self.violations.append(Problem(type_, name, f"{violation.policy_name}: {message}"))
        else:
            self.warnings.append(f"{violation.policy_name}: {message}")

    def hear_step(self, step: StepEventMetadata) -> None:
        operation = step.op.value
        if step.type == STACK_TYPE or operation in HALVES:
            return
        verb = VERBS.get(operation)
        if verb is None:
            return
        type_, name = of_urn(step.urn)
        self.begun += 1
        self.counts[verb] += 1
        self.current = f"{short(type_)} {name}"
        state = step.old if verb in ("deleted", "replaced") else step.new or step.old
        changed = tuple(step.diffs or step.keys or ())
        protected = bool(step.old and step.old.protect)
        self.steps.append(
            Step(verb, type_, name, protected, changed, (state and (state.outputs or state.inputs)) or {})
        )

    def hear_outputs(self, step: StepEventMetadata) -> None:
        if step.type != STACK_TYPE or step.new is None:
            return
        before = (step.old and step.old.outputs) or {}
        self.outputs = dict(step.new.outputs or {})
        self.outputs_changed = before != self.outputs


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
