"""One stack on the Pulumi engine, through the Automation API.

Each start of `pulumi` costs 0.2 s, so nothing is asked of it that its events have told.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pulumi.automation import (
    EngineEvent,
    LocalWorkspace,
    OutputMap,
    Stack,
    StackAlreadyExistsError,
    StackNotFoundError,
    UpdateSummary,
)

# Not among those that are exported (3.272).
from pulumi.automation._stack import StackInitMode

from landbridge.places import Place

from .pulumi_command import PulumiCommand
from .state_file import read_state

OnEvent = Callable[[EngineEvent], None]
MARK = "LANDBRIDGE_STACK"


class LeanWorkspace(LocalWorkspace):
    """Selects no stack: every call names its own, and the user's selection stays what it was."""

    def select_stack(self, stack_name: str) -> None: ...


class LeanStack(Stack):
    """Does not ask again, after an update, for outputs and summary."""

    def outputs(self) -> OutputMap:
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary | None:  # noqa: ARG002, FBT001, FBT002
        return UpdateSummary(
            kind="update", start_time=datetime.now(UTC), message="", environment={}, config={}, result="succeeded"
        )


class StackEngine:
    """The operations on one stack. All raise CommandError; what happens meanwhile goes to `on_event`."""

    def __init__(self, name: str, place: Place, command: PulumiCommand) -> None:
        self.name, self.place, self.full_name = name, place, place.full_name(name)
        place.logs.mkdir(parents=True, exist_ok=True)
        self.log = place.logs / f"{name}.log"
        self.command = command.for_stack(self.log)
        self.workspace = LeanWorkspace(
            work_dir=str(place.project),
            env_vars={**place.environment, MARK: self.mark_value},
            secrets_provider=place.secrets_provider,
            pulumi_command=self.command,
        )
        # LeanStack.select makes a plain Stack, which asks for outputs and history after each update: three processes.
        self.stack = LeanStack(self.full_name, self.workspace, StackInitMode.SELECT)

    def start_log(self) -> None:
        """Empties the log, for a run that may work on the stack: not while another does."""
        self.log.write_text("")

    @property
    def mark_value(self) -> str:
        return f"{self.place.backend} {self.name}"

    @property
    def mark(self) -> str:
        """In the environment of everything that works on this stack, so that leftovers of a killed run are known."""
        return f"{MARK}={self.mark_value}"

    def found(self) -> None:
        """Makes the stack if there is none, so that others can read from it that it has nothing yet."""
        if self.state() is None:
            self._make()

    def _make(self) -> None:
        settings = self.place.settings_folder / f"Pulumi.{self.name}.yaml"
        if self.place.settings and not settings.exists():
            settings.write_text(self.place.settings)
        with contextlib.suppress(StackAlreadyExistsError):  # another run was quicker
            self.workspace.create_stack(self.full_name)

    def preview(self, on_event: OnEvent, *, refresh: bool, diff: bool, parallel: int | None) -> str:
        """What `up` would do, judged by the policies. Makes the stack if there is none; returns Pulumi's own text."""

        def attempt() -> str:
            return self.stack.preview(
                on_event=self.watched(on_event),
                policy_packs=self.place.policy_packs,
                refresh=refresh,
                diff=diff,
                parallel=parallel,
                color="never",
            ).stdout

        self.for_programs()
        # A look at a file, against the start of a preview that fails.
        if (file := self.place.stack_file(self.name)) and not file.exists():
            self._make()
        try:
            return attempt()
        except StackNotFoundError:
            self._make()
            return attempt()

    def up(self, on_event: OnEvent, *, refresh: bool, parallel: int | None) -> None:
        self.for_programs()
        self.stack.up(
            on_event=self.watched(on_event), refresh=refresh, parallel=parallel, color="never", show_secrets=False
        )

    def up_only(self, urn: str, on_event: OnEvent, environment: Mapping[str, str]) -> None:
        """Replaces one resource and touches no other. `environment` is what programs see besides."""
        self.for_programs()
        before = dict(self.workspace.env_vars or {})
        self.workspace.env_vars = {**before, **environment}
        try:
            self.stack.up(
                on_event=self.watched(on_event), target=[urn], replace=[urn], color="never", show_secrets=False
            )
        finally:
            self.workspace.env_vars = before

    def set_program_variable(self, name: str, value: str | None) -> None:
        """Puts a variable into the environment of the stack's program, or takes it away."""
        variables = {**(self.workspace.env_vars or {})}
        variables.pop(name, None)
        self.workspace.env_vars = variables if value is None else {**variables, name: value}

    def for_programs(self) -> None:
        """Before each command that starts programs: not every one does, and an interpreter costs seconds."""
        self.workspace.env_vars = {**(self.workspace.env_vars or {}), **self.place.interpreter()}

    def preview_destroy(self, on_event: OnEvent, *, diff: bool, parallel: int | None) -> str:
        """What `destroy` would do, protected resources included."""
        self.command.flags["destroy"] = ["--ignore-protect", *(["--diff"] if diff else [])]
        return self.stack.preview_destroy(
            on_event=self.watched(on_event), parallel=parallel, color="never", show_secrets=False
        ).stdout

    def destroy(self, on_event: OnEvent, *, ignore_protect: bool, parallel: int | None) -> None:
        self.command.flags["destroy"] = ["--ignore-protect"] if ignore_protect else []
        self.stack.destroy(on_event=self.watched(on_event), parallel=parallel, color="never", show_secrets=False)

    def refresh(self, on_event: OnEvent) -> None:
        """Reads every resource from the cloud into the state."""
        self.stack.refresh(on_event=self.watched(on_event), color="never", show_secrets=False)

    def preview_refresh(self, on_event: OnEvent) -> None:
        """Compares every resource with the cloud and changes nothing."""
        self.stack.preview_refresh(on_event=self.watched(on_event), color="never")

    def state(self) -> Mapping[str, Any] | None:
        """The stack's deployment; None if there is no stack."""
        if file := self.place.stack_file(self.name):
            return read_state(file)
        try:
            return self.stack.export_stack().deployment
        except StackNotFoundError:
            return None

    def last_update(self) -> UpdateSummary | None:
        """When the stack was last updated (UTC), and how that ended: in "interrupted", too, if that was seen here."""
        history = self.stack.history(page_size=1, show_secrets=False)
        if not history:
            return None
        last = history[0]
        last.start_time = last.start_time.replace(tzinfo=UTC)  # the Automation API forgets the zone
        last.end_time = last.end_time and last.end_time.replace(tzinfo=UTC)
        if last.result == "failed" and self.stop_mark.exists():
            begun, ended = map(datetime.fromisoformat, self.stop_mark.read_text().split())
            if begun <= last.start_time and (last.end_time or last.start_time) <= ended:
                last.result = "interrupted"
        return last

    @property
    def stop_mark(self) -> Path:
        """Between which times an update was interrupted: Pulumi's history only says that it failed."""
        return self.log.with_suffix(".stopped")

    def mark_stopped(self, seconds: float) -> None:
        """Says that an update of this many seconds was interrupted just now."""
        now = datetime.now(UTC)
        begun = (now - timedelta(seconds=seconds)).replace(microsecond=0)  # as exact as the history
        with contextlib.suppress(OSError):  # its folder went with the local cloud
            self.stop_mark.write_text(f"{begun.isoformat()} {now.isoformat()}\n")

    def settle_pending(self, made: Sequence[Mapping[str, Any]]) -> None:
        """Ends every open operation: resources that were `made`, as a state tells of them, are there; others count
        as never begun.

        `pulumi refresh --import-pending-creates` would be the tool for that, but a refresh leaves the imports it makes
        of them pending for ever (engine 3.259).
        """
        state = self.stack.export_stack()
        deployment = dict(state.deployment or {})
        deployment.pop("pending_operations", None)
        new = {one["urn"]: {"outputs": one.get("inputs", {}), **one} for one in made}
        resources, replaced = [], []
        for resource in deployment.get("resources") or ():
            if resource["urn"] in new:  # it was to be replaced: the new one takes its place
                resources.append(new.pop(resource["urn"]))
                replaced.append({**resource, "delete": True})
            else:
                resources.append(resource)
        deployment["resources"] = [*resources, *new.values(), *replaced]
        state.deployment = deployment
        self.stack.import_stack(state)

    def unprotect(self, urn: str) -> None:
        """Lets the next up delete a resource."""
        words = ["state", "unprotect", urn, "--yes", "--stack", self.full_name]
        self.command.run(words, str(self.place.project), self.place.environment)

    def rename(self, name: str) -> None:
        """Keeps the stack, with its state, under another name. Calls no cloud."""
        words = ["stack", "rename", self.place.full_name(name), "--stack", self.full_name]
        self.command.run(words, str(self.place.project), self.place.environment)

    def remove(self) -> None:
        """Forgets the stack, which must have nothing in it."""
        words = ["stack", "rm", "--yes", "--stack", self.full_name]
        self.command.run(words, str(self.place.project), self.place.environment)

    def interrupt(self) -> None:
        self.command.interrupt()

    def watched(self, on_event: OnEvent) -> OnEvent:
        """`on_event`, with the command told when its events begin and end."""

        def watch(event: EngineEvent) -> None:
            self.command.first_event.set()
            try:
                on_event(event)
            finally:
                if event.cancel_event:
                    self.command.last_event.set()

        return watch
