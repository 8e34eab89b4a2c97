"""One run of `up`, `preview` or `destroy` over the stacks of a fleet."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pulumi.automation import CommandError, StackNotFoundError

from fleet.world import World
from stacks.catalogue import PROJECT, StackSpec

from . import failures, locks, lookups, recovery, schedule
from .blast import Blast, blast
from .engine import StackEngine
from .errors import LandbridgeError
from .places import Place
from .pulumi_command import PulumiCommand
from .story import Story

GIVEN_UP = ("failed", "stopped", "skipped")


@dataclass(frozen=True)
class How:
    """What the command line asks of the engine. `parallel`: operations at a time in a stack (None: Pulumi decides)."""

    refresh: bool = False
    diff: bool = False
    parallel: int | None = None
    ignore_protect: bool = False


class FleetRun:
    """Previews, then changes, the chosen stacks; what happens to each is in `stories`."""

    def __init__(
        self, world: World, stacks: Iterable[StackSpec], place: Place, command: PulumiCommand, how: How
    ) -> None:
        self.world, self.place, self.how = world, place, how
        self.stacks = {stack.name: stack for stack in stacks}
        self.engines = {name: StackEngine(name, place, command) for name in self.stacks}
        self.stories = {name: Story(name) for name in self.stacks}
        self.notes: list[str] = list(place.notes)
        self.stop = threading.Event()
        self.blast = Blast()

    @property
    def failed(self) -> bool:
        return any(story.phase in GIVEN_UP for story in self.stories.values())

    @property
    def changed(self) -> bool:
        """Whether anything was changed or, previewed, would be."""
        return any(story.changes or story.outputs_changed for story in self.stories.values())

    @property
    def interrupted(self) -> bool:
        return self.stop.is_set()

    @property
    def pending(self) -> list[Story]:
        """Previewed stacks with something to do."""
        return [story for story in self.stories.values() if story.phase == "waiting"]

    def preview(self, *, destroy: bool = False, only_look: bool = False) -> None:
        """What would change. Unless `only_look`, first clears what a killed run has left behind."""

        def work(name: str) -> None:
            engine, story = self.engines[name], self.stories[name]
            state = engine.state()
            if only_look:
                story.warnings += recovery.told(recovery.pending(state))
            else:
                self.clear_up(name, recovery.pending(state))
            engine.start_log()
            story.enter("preview", recovery.resources(state))
            if destroy:
                story.diff = engine.preview_destroy(story.hear, diff=self.how.diff, parallel=self.how.parallel)
            else:
                story.diff = engine.preview(
                    story.hear, refresh=self.how.refresh, diff=self.how.diff, parallel=self.how.parallel
                )
            story.enter("waiting" if story.changes or story.outputs_changed else "unchanged")

        # Previews read other stacks' outputs but change nothing: all at once.
        self.each(dict.fromkeys(self.stacks, ()), work)
        self.blast = blast({story.stack: story.steps for story in self.pending})

    def up(self) -> None:
        """Brings every stack that would change up, after those it depends on."""
        touched: set[str] = set()

        def work(name: str) -> None:
            story, spec = self.stories[name], self.stacks[name]
            if story.phase == "unchanged" and not touched.intersection(spec.depends_on):
                return
            touched.add(name)
            story.enter("update", story.changes)
            self.engines[name].up(story.hear, refresh=self.how.refresh, parallel=self.how.parallel)
            story.enter("done")

        self.each({name: spec.depends_on for name, spec in self.stacks.items()}, work)

    def destroy(self) -> None:
        """Destroys every stack, after those that depend on it."""

        def work(name: str) -> None:
            story = self.stories[name]
            if story.phase == "unchanged":
                return
            story.enter("destroy", story.changes)
            self.engines[name].destroy(story.hear, ignore_protect=self.how.ignore_protect, parallel=self.how.parallel)
            story.enter("done")

        dependents = {n: [m for m, spec in self.stacks.items() if n in spec.depends_on] for n in self.stacks}
        self.each(dependents, work)

    def each(self, depends_on: Mapping[str, Iterable[str]], work: Callable[[str], None]) -> None:
        def attempt(name: str) -> bool:
            story = self.stories[name]
            if story.phase in GIVEN_UP:
                return False
            try:
                work(name)
            except StackNotFoundError:
                story.enter("unchanged")
            except (CommandError, locks.LockedError, LandbridgeError) as error:
                self.give_up(name, error)
            except OSError as error:  # the local cloud's successor removes its folders
                if not failures.cloud_ended(story, error, self.place):
                    raise
                self.give_up(name, error)
            return story.phase not in GIVEN_UP

        def skip(name: str, refusal: schedule.Refusal) -> None:
            story = self.stories[name]
            if story.phase == "waiting":
                story.because = f"{refusal.after} failed" if refusal.after else "interrupted"
                story.enter("skipped")

        schedule.run(depends_on, attempt, skip, self.stop, self.interrupt)

    def give_up(self, name: str, error: Exception) -> None:
        """Work on a stack ended with `error`, which an interrupt may have brought about."""
        story = self.stories[name]
        changing = story.phase in ("update", "destroy")
        story.outputs = {}
        if story.phase == "preview":
            story.counts.clear()  # nothing of it was done
        if self.interrupted:
            if changing:
                self.engines[name].mark_stopped(story.elapsed)
            story.enter("stopped")
        else:
            story.problems = failures.worth_telling(story, error, self.place)
            story.enter("failed")

    def interrupt(self) -> None:
        self.notes.append("Stopping: what runs finishes first. Ctrl-C again stops at once.")
        for engine in self.engines.values():
            engine.interrupt()

    def clear_up(self, name: str, pending: Sequence[recovery.Pending]) -> None:
        """Deals with what a killed run has left: its lock, and operations whose end nobody saw. Raises LockedError."""
        self.notes += [
            f"{name}: {note}" for note in locks.clear(self.place.state_folder, PROJECT, name, self.engines[name].mark)
        ]
        engine, story = self.engines[name], self.stories[name]
        if pending:
            story.enter("resume")
            self.notes += [
                f"{name}: {note}" for note in recovery.resume(engine, pending, self.clients(name), story.hear)
            ]

    def clients(self, name: str) -> lookups.ClientOf:
        aws = self.world.fleet.aws
        account = aws.account_id if aws and self.place.world == "local" else None
        return lookups.clients(self.stacks[name].region, account)
