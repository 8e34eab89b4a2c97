"""Rotation of a cluster's keys: a phase into fleet.pki.yaml, an up of the stack, a roll of all machines.

What is to be done is decided from the file and from what is, so that an interrupted rotation goes on where it stopped:
a phase without `since` is one that some machine may not have yet. Both directions go the same way.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from components.control_plane.api import encryption_name
from components.control_plane.etcd import MAIN, etcdctl
from components.control_plane.rotation import (
    ENCRYPTION,
    ON,
    SUBJECTS,
    Way,
    dropped_generations,
    finished,
    following,
    generations,
    settled,
)
from fleet import rotations
from fleet.rotations import Standing
from landbridge import places
from landbridge.cluster import info
from landbridge.cluster.roll import Replaced, Roll
from landbridge.cluster.session import Session
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack_report import Step, of_urn
from landbridge.errors import LandbridgeError, UsageError
from landbridge.etcd.machine_steps import MachineSteps
from landbridge.output import Output
from landbridge.up import consent, guards
from landbridge.up.report import Report
from landbridge.up.run import FleetRun
from landbridge.up.run_context import How
from stacks.catalogue import catalogue

from .phases import astray, picked, standings, waiting, words

Tell = Callable[[str], None]
REWRITES = 3
NOT_ANSWERED = "etcd-did-not-answer"


class RotationError(LandbridgeError):
    """The rotation stopped; called again, it goes on from there."""


def dropped(state: Mapping[str, Any] | None, at: Mapping[str, Standing]) -> dict[str, str]:
    """URN → name of the keys in a stack's state of which nobody is to know any more."""
    wanted = {f"{subject}-{number}" for subject in SUBJECTS for number in generations(at[subject]).trusted}
    found = {}
    for resource in (state or {}).get("resources") or ():
        type_, name = of_urn(resource["urn"])
        subject, _, number = name.rpartition("-")
        if type_ in guards.TRUST_ROOTS and subject in SUBJECTS and number.isdigit() and name not in wanted:
            found[resource["urn"]] = name
    return found


def refusals(cluster: str, steps: Iterable[Step], gone: Collection[str]) -> list[str]:
    """What guards say against a run, but for the end of exactly these keys."""
    others = [
        step for step in steps if not (step.verb == "deleted" and step.type in guards.TRUST_ROOTS and step.name in gone)
    ]
    return guards.refusals({cluster: others})


class Rotation:
    """One run of `landbridge pki rotate`. `moved` has each key's phases in it, `replaced` the machines."""

    def __init__(self, session: Session, out: Output, *, now: bool = False, way: Way = ON) -> None:
        self.session, self.out, self.hurried, self.way = session, out, now, way
        self.name, self.path = session.info.name, rotations.rotations_path(session.world.path)
        self.at = standings(self.path, self.name)
        self.moved: list[tuple[str, Standing, Standing]] = []
        self.replaced: list[Replaced] = []

    def tell(self, line: str) -> None:
        self.out.progress.print(line, markup=False, soft_wrap=True)

    @property
    def unfinished(self) -> list[str]:
        """Keys whose phase some machine may not have yet."""
        return [subject for subject, at in self.at.items() if not finished(at)]

    def ready(self, subjects: Iterable[str]) -> list[str]:
        """Those that may leave their phase: every machine has it, or the way turns there, and nothing is waited for."""
        chosen = [key for key in subjects if finished(self.at[key]) or self.at[key].phase in self.way.reversible]
        delayed = {} if self.hurried else waiting(self.at, chosen, datetime.now(UTC), self.way)
        return [subject for subject in chosen if subject not in delayed]

    def begun(self, only: Collection[str]) -> list[str]:
        """What is gone on with before anything else; none where a key turns round in the middle of a phase."""
        unfinished = self.unfinished
        turned = [key for key in picked(self.at, only, self.way) if key in unfinished]
        return [] if any(self.at[key].phase in self.way.reversible for key in turned) else unfinished

    def run(self, only: Collection[str], *, whole: bool) -> None:
        """A phase, or with `whole` all until the keys are at rest again. Raises LandbridgeError."""
        rested: set[str] = set()
        begun = self.begun(only)
        if begun:
            self.tell(f"going on with {', '.join(begun)}: {self.at[begun[0]].phase}")
            self.complete(None)
            rested |= {subject for subject in begun if self.at[subject].phase == "steady"}
            if not whole:
                return
        elif why := astray(self.name, self.at, only, self.way):
            raise UsageError(why)
        moving = only or any(at.phase != "steady" for at in self.at.values())
        targets = [] if begun and not moving else picked(self.at, only, self.way)
        while ready := self.ready(subject for subject in targets if subject not in rested):
            self.advance(ready)
            rested |= {subject for subject in ready if self.at[subject].phase == "steady"}
            if not whole:
                return

    def advance(self, subjects: Collection[str]) -> None:
        """Their next phase, in the file, in the stack and on all machines."""
        before, was = dict(self.at), self.path.read_text(encoding="utf-8") if self.path.exists() else None
        after = {subject: following(self.at[subject], self.way) for subject in subjects}
        for number in dropped_generations(before[ENCRYPTION], after.get(ENCRYPTION, before[ENCRYPTION])):
            rewrite_secrets(self.session, number, self.tell)
        self.at |= after
        for subject in subjects:
            self.tell(f"{subject}: {words(before[subject])} → {words(self.at[subject])}")
        self.write()
        self.complete(was if was is not None else "")
        self.moved += [(subject, before[subject], self.at[subject]) for subject in subjects]

    def complete(self, undo: str | None) -> None:
        """The stack and every machine to what the file says. `undo` is the file's text if nothing comes of it."""
        self.up(undo)
        # Read anew: it publishes the authorities of this phase.
        self.session = Session(self.session.world, self.session.place, info.read(self.session.place, self.name))
        roll = Roll(self.session, self.tell)
        try:
            roll.run((), force=False)
        finally:
            self.replaced += roll.done
        now = datetime.now(UTC)
        for subject in self.unfinished:
            self.at[subject] = settled(self.at[subject], now)
        self.write()

    def up(self, undo: str | None) -> None:
        world, place = self.session.world, self.session.place
        stack = next(stack for stack in catalogue(world.fleet) if stack.name == self.name)
        run = FleetRun(world, [stack], place, PulumiCommand(places.pulumi_root()), How())
        report = Report("up", run, self.out)
        gone = dropped(run.engines[self.name].state(), self.at)
        self.unprotect(run, gone)
        try:
            with report.screen.shown():
                run.preview()
            self.stop_if_failed(run, report)
            consent.refuse(refusals(self.name, run.reports[self.name].steps, set(gone.values())))
            if run.pending:
                consent.ask_up(run.blast, world.fleet.limits, {}, yes=True, interactive=self.out.interactive)
        except BaseException:
            self.undo(undo)
            raise
        with report.screen.shown():
            run.up()
        self.stop_if_failed(run, report)

    def undo(self, text: str | None) -> None:
        """Puts the file back: nothing was changed yet, so that nothing is to be gone on with."""
        if text:
            self.path.write_text(text, encoding="utf-8")
        elif text is not None:
            self.path.unlink()
        self.at = standings(self.path, self.name)

    def unprotect(self, run: FleetRun, gone: Mapping[str, str]) -> None:
        """Of exactly the keys that end now."""
        engine = run.engines[self.name]
        for urn, name in gone.items():
            self.tell(f"{name} ends: takes its protection off ({of_urn(urn)[0].rpartition(':')[2]})")
            engine.unprotect(urn)

    def stop_if_failed(self, run: FleetRun, report: Report) -> None:
        if run.failed or run.interrupted:
            code = report.end() if not self.out.as_json else report.code(expect_no_changes=False)
            problems = "; ".join(problem.message for report in run.reports.values() for problem in report.problems)
            raise RotationError(
                f"The rotation of {self.name} stopped at its up{f': {problems}' if problems else ''}. "
                "Machines have what they "
                "had; run the command again when the cause is mended.",
                code,
            )

    def write(self) -> None:
        """The file, less what never rotated."""
        every = dict(rotations.load(self.path))
        every[self.name] = {subject: at for subject, at in self.at.items() if at != Standing()}
        rotations.write(self.path, every)


def rewrite_secrets(session: Session, old: int, tell: Tell) -> None:
    """Writes every Secret again, unchanged, until none in etcd lies under the old key. Raises RotationError."""
    for attempt in range(REWRITES):
        if not (left := under(session, old)):
            tell(f"no Secret lies under {encryption_name(old)} any more")
            return
        tell(f"{left} Secrets lie under {encryption_name(old)}: writes them again")
        every = session.admin.done("get", "secrets", "--all-namespaces", "--output=json", seconds=600)
        # Those that somebody changed or deleted meanwhile are refused one by one: the next look sees what is left.
        result = session.admin.run("replace", "--filename=-", stdin=every, seconds=600)
        if attempt and result.code != 0:
            tell(result.why)
    if left := under(session, old):
        raise RotationError(
            f"{left} Secrets of {session.info.name} still lie under {encryption_name(old)}, which therefore stays. "
            "Run the command again; if that does not help, look for an admission webhook that refuses Secrets."
        )


def under(session: Session, generation: int) -> int:
    """How many Secrets in etcd lie under a key, as etcd has them."""
    head = f"k8s:enc:secretbox:v1:{encryption_name(generation)}:"
    ask = f"{etcdctl(MAIN)} get /registry/secrets/ --prefix --print-value-only || echo {NOT_ANSWERED}"
    script = f"{{ {ask}; }} | grep --text --only-matching -e {head} -e {NOT_ANSWERED} | sort | uniq -c"
    steps = MachineSteps(session.remote)
    for machine in session.info.etcd:
        result = steps.ask(machine.name, "sh", "-c", script, seconds=300)
        if result.code == 0 and NOT_ANSWERED not in result.out:
            return int(result.out.split()[0]) if result.out.strip() else 0
    raise RotationError(f"No member of {session.info.name}'s etcd tells under which key Secrets lie: none answers.")
