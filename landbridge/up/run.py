"""One run of `up`, `preview` or `destroy` over the stacks of a fleet."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError
from pulumi.automation import CommandError, StackNotFoundError

from fleet import witness
from fleet.buckets import RECOVER, in_azure
from fleet.world import World
from landbridge.clouds.azure import vaults as azure_vaults
from landbridge.cluster import bootstrap, kubeconfig_cache, node_readiness, rebuild_state
from landbridge.cluster.kube import KubeError
from landbridge.destroy import cleanup
from landbridge.engine import failures, locks
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack_report import GIVEN_UP, Phase, StackReport, Step
from landbridge.errors import LandbridgeError
from landbridge.image import machine_images
from landbridge.local.enter import HOME
from landbridge.places import Place
from landbridge.queue import unfinished as queue_unfinished
from landbridge.quotas.table import Table
from stacks.catalogue import PROJECT, StackSpec, catalogue, cluster_of

from . import answers, guards, order, recovery, schedule
from .blast_radius import Blast, blast
from .orphans import Orphan, read_by
from .rerun import Again
from .run_context import How, RunContext
from .unchanged.known import Known, outputs


class FleetRun(RunContext):
    """Previews, then changes, the chosen stacks; what happens to each is in `reports`."""

    def __init__(
        self,
        world: World,
        stacks: Iterable[StackSpec],
        place: Place,
        command: PulumiCommand,
        how: How,
        orphans: Mapping[str, Orphan] | None = None,
    ) -> None:
        super().__init__(world, stacks, place, command, how, orphans or {})
        self.again = Again(place, self.stop)
        self.blast = Blast()
        self.refusals: list[str] = []
        self.quotas: Table | None = None
        self.recovering: set[str] = set()
        full = how.full or how.refresh or how.diff
        self.known = Known(world, place, self.stacks, self.engines, command.command, full=full)

    @property
    def failed(self) -> bool:
        return any(report.phase in GIVEN_UP for report in self.reports.values())

    @property
    def changed(self) -> bool:
        """Whether anything was changed or, previewed, would be."""
        return any(report.changes or report.outputs_changed for report in self.reports.values())

    @property
    def pending(self) -> list[StackReport]:
        """Previewed stacks with something to do."""
        return [report for report in self.reports.values() if report.phase == "waiting"]

    def preview(self, *, destroy: bool = False, only_look: bool = False) -> None:
        """What would change. Unless `only_look`, first clears what a killed run has left behind."""

        def work(name: str) -> None:
            engine, report = self.engines[name], self.reports[name]
            state = engine.state()
            if not destroy:
                order.refuse_alone(name, self.stacks, self.stands, self.place.options)
                if name in self.known.valid:
                    report.leave_out(recovery.resources(state), outputs(state), self.known.valid[name].warnings)
                    return
                report.why = self.known.why.get(name, "")
                if self.reads_image(name):
                    self.ensure_image(name)
            if only_look:
                report.warnings += recovery.notice(recovery.pending(state))
            else:
                self.clear_up(name, recovery.pending(state))
            if not destroy:
                self.recover(name, state)
            engine.start_log()
            report.enter("preview", recovery.resources(state))
            engine.set_program_variable(witness.ENVIRONMENT, None if destroy else self.known.begin(name))
            if destroy:
                report.diff = engine.preview_destroy(report.hear, diff=self.how.diff, parallel=self.how.parallel)
            else:
                report.diff = engine.preview(
                    report.hear, refresh=self.reads(name), diff=self.how.diff, parallel=self.how.parallel
                )
            report.enter("waiting" if report.changes or report.outputs_changed else "unchanged")
            if report.phase == "unchanged" and not destroy and not report.drift:
                self.known.keep(name, report.warnings)

        # Previews read other stacks' outputs but change nothing: all at once, if there is something to read from.
        if destroy:
            self.refuse_destroy()
        else:
            order.refuse_elsewhere(self.stacks.values(), self.published, self.place.options)
            read = {other for spec in self.stacks.values() for other in spec.depends_on if other in self.stacks}
            self.each(dict.fromkeys(sorted(read), ()), lambda name: self.engines[name].found())
            self.known.look()
        with answers.Asking(self, self.known.valid, destroy=destroy) as asking:
            self.each(dict.fromkeys(self.stacks, ()), work)
            asking.end()
        steps = {report.stack: report.steps for report in self.pending}
        self.blast = blast(steps, keep=not self.how.with_volumes)
        self.refusals = [] if destroy else [*guards.refusals(steps, self.how.ignored), *self.unfinished(steps)]
        self.refusals += asking.refusals
        self.quotas = asking.table

    def unfinished(self, steps: Mapping[str, Sequence[Step]]) -> Iterator[str]:
        """What stands against it in clusters: queues that go while something is in them."""
        for stack, those in steps.items():
            if (queues := guards.queues_gone(those)) and (kube := self.api(cluster_of(stack))):
                options = f" --cluster {cluster_of(stack)}{self.place.options}"
                try:
                    found = queue_unfinished.unfinished(kube, queues)
                    yield from queue_unfinished.refusal(stack, found, options)
                except KubeError as error:
                    yield f"{stack}: whether something is in the queues of {', '.join(queues)} can't be seen: {error}"

    def published(self, name: str) -> Mapping[str, Any]:
        """A stack's outputs; none where they can't be read, which that stack's own work tells."""
        try:
            return outputs(self.engines[name].state())
        except (CommandError, LandbridgeError):
            return {}

    def reads(self, name: str) -> bool:
        """Whether the cloud is read first: also for pools in Azure, whose sizes change beside us and are written along
        with the rest (components/pools/azure/capacity.py).
        """
        spec = self.stacks[name]
        return self.how.refresh or (spec.kind == "pool" and in_azure(self.world.fleet, spec.region))

    def reads_image(self, name: str) -> bool:
        """Whether the stack's program does, in a preview as well. Machines of one look at their launch on AWS."""
        spec = self.stacks[name]
        return spec.kind == "pool" or (spec.kind in ("cluster", "laptops") and in_azure(self.world.fleet, spec.region))

    def ensure_image(self, name: str) -> None:
        """Raises LandbridgeError when machines of the stack would have nothing to start from."""
        spec, fleet = self.stacks[name], self.world.fleet
        if image := machine_images.needed(fleet, spec):
            machine_images.ensure(self.place, spec.region, fleet, *image)

    def recover(self, name: str, state: Mapping[str, Any] | None) -> None:
        """Has a region's vault come back that Azure keeps since its last destroy. Raises LandbridgeError."""
        if self.stacks[name].kind != "region":
            return
        if vault := azure_vaults.to_recover(self.world.fleet, name, state, refresh=self.how.refresh):
            self.recovering.add(name)
            self.engines[name].set_program_variable(RECOVER, vault)
            self.notes.append(f"{name}: Azure still keeps vault {vault}: it comes back, with the secrets in it.")

    def refuse_destroy(self) -> None:
        """Raises LandbridgeError if any stack would lose what it stands on: then none is destroyed."""
        others, options, refusals = self.others(), self.place.options, list[str]()
        every = [spec.name for spec in others]

        def judge(name: str) -> None:
            try:
                order.refuse_read(name, self.stacks, every, lambda other: read_by(other, self.state_of(other)), options)
            except LandbridgeError as error:
                refusals.append(str(error))

        self.each({name: () for name in self.stacks if name in self.orphans}, judge)
        flags = {"ignore-protect": self.how.ignore_protect, "with-volumes": self.how.with_volumes}
        try:
            words = "".join(f" --{flag}" for flag, given in flags.items() if given)
            order.refuse_below(self.stacks, others, self.stands, options + words)
        except LandbridgeError as error:
            refusals.append(str(error))
        if refusals:
            raise LandbridgeError("\n".join(["Nothing was destroyed.", *sorted(refusals)]))

    def others(self) -> list[StackSpec]:
        """All stacks that the fleet has, or had before a cluster was rebuilt elsewhere or an entry was taken out."""
        return [
            *catalogue(self.world.fleet),
            *rebuild_state.of_fleet(self.world),
            *(orphan.spec for orphan in self.orphans.values()),
        ]

    def stands(self, name: str) -> bool:
        return bool(recovery.resources(self.state_of(name)))

    def up(self) -> None:
        """Brings every stack that would change up, after those it depends on."""
        touched: set[str] = set()

        def work(name: str) -> None:
            report, spec = self.reports[name], self.stacks[name]
            ended: Phase = "unchanged"
            if report.phase != "unchanged" or touched.intersection(spec.depends_on):
                touched.add(name)
                self.ensure_image(name)
                report.enter("update", report.changes)
                self.known.forget(name)
                self.up_stack(name)
                ended = "done"
                self.known.keep(name, report.warnings)
            if spec.kind == "cluster":
                self.await_first_start(name)
            report.enter(ended)

        self.each({name: spec.depends_on for name, spec in self.stacks.items()}, work)
        self.each({name: () for name, spec in self.stacks.items() if spec.kind == "addons"}, self.await_nodes)

    def up_stack(self, name: str) -> None:
        """Brings one up, also where its secrets have come back with their vault and its state has them no more."""
        engine, report = self.engines[name], self.reports[name]
        for tries in range(azure_vaults.MOST_SECRETS + 1):
            try:
                engine.up(report.hear, refresh=self.reads(name) and not tries, parallel=self.how.parallel)
            except CommandError:
                back = any(azure_vaults.CAME_BACK.search(problem.message) for problem in report.problems)
                if self.interrupted or not back or tries == azure_vaults.MOST_SECRETS:
                    raise
                self.resume(name, "a secret has come back with its vault: it is kept.")
                report.enter("update", report.changes)
            else:
                break
            self.heed_interrupt()
        if name in self.recovering:
            self.heed_interrupt()
            # What came back is as it was, whatever the program says; now it gets what the program says.
            engine.set_program_variable(RECOVER, None)
            engine.up(report.hear, refresh=False, parallel=self.how.parallel)

    def heed_interrupt(self) -> None:
        """Raises LandbridgeError between two runs of the engine, where nothing hears an interrupt."""
        if self.interrupted:
            raise LandbridgeError("interrupted")

    def await_nodes(self, name: str) -> None:
        """Waits until the machines of a cluster that has its add-ons have joined it. Raises LandbridgeError."""
        report, cluster = self.reports[name], cluster_of(name)
        ended, phases = report.phase, {one: other.phase for one, other in self.reports.items()}
        pools = order.with_machines(self.world.fleet, cluster, phases, self.stands)
        changed = any(phases.get(one) == "done" for one in (name, *pools))
        report.enter("joining")
        node_readiness.ensure(
            self.world, self.place, cluster, pools, self.teller(report), self.noter(cluster), wait=changed
        )
        report.enter(ended)

    def await_first_start(self, name: str) -> None:
        """Waits until a cluster's API answers, also one whose last run did not. Raises LandbridgeError."""
        report = self.reports[name]
        report.enter("bootstrap")
        kubeconfig_cache.forget(HOME)
        bootstrap.ensure(self.world, self.place, name, self.teller(report), self.noter(name))

    def destroy(self) -> None:
        """Destroys every stack, after those that depend on it."""

        def work(name: str) -> None:
            report = self.reports[name]
            if report.phase == "unchanged":
                return
            report.enter("destroy", report.changes)
            self.known.forget(name)
            cleanup.take_down(self, name)
            report.enter("done")

        self.each(order.of_destroy(self.stacks), work)

    def each(self, depends_on: Mapping[str, Iterable[str]], work: Callable[[str], None]) -> None:
        def attempt(name: str) -> bool:
            report = self.reports[name]
            if report.phase in GIVEN_UP:
                return False
            try:
                self.again.through(name, work, self.resume)
            except StackNotFoundError:
                report.enter("unchanged")
            except (CommandError, locks.LockedError, LandbridgeError, BotoCoreError) as error:
                # The last: a cloud that we ask ourselves does not answer.
                self.give_up(name, error)
            except OSError as error:  # a load or `local forget` removes the local cloud's folders
                if not failures.cloud_ended(report, error, self.place):
                    raise
                self.give_up(name, error)
            return report.phase not in GIVEN_UP

        def skip(name: str, refusal: schedule.Refusal) -> None:
            report = self.reports[name]
            if report.phase == "waiting":
                report.because = f"{refusal.after} failed" if refusal.after else "interrupted"
                report.enter("skipped")

        schedule.run(depends_on, attempt, skip, self.stop, self.interrupt)

    def resume(self, name: str, why: str) -> None:
        """Makes a stack ready to run once more after its run was broken. Raises LockedError."""
        engine, report = self.engines[name], self.reports[name]
        self.notes.append(f"{name}: {why}")
        report.problems.clear()
        given_up = recovery.given_up(report.creating) if report.phase == "update" else []
        self.clear_up(name, [*recovery.pending(engine.state()), *given_up])

    def give_up(self, name: str, error: Exception) -> None:
        """Work on a stack ended with `error`, which an interrupt may have brought about."""
        report = self.reports[name]
        changing = report.phase in ("update", "destroy")
        report.outputs = {}
        if report.phase == "preview":
            report.counts.clear()  # nothing of it was done
        if self.interrupted:
            if changing:
                self.engines[name].mark_stopped(report.elapsed)
            report.enter("stopped")
        else:
            report.problems = failures.worth_telling(report, error, self.place)
            report.enter("failed")

    def interrupt(self) -> None:
        self.notes.append("Stopping: what runs finishes first. Ctrl-C again stops at once.")
        for engine in self.engines.values():
            engine.interrupt()

    def clear_up(self, name: str, pending: Sequence[recovery.Pending]) -> None:
        """Deals with what a killed run has left: its lock, and operations whose end nobody saw. Raises LockedError."""
        self.notes += [
            f"{name}: {note}" for note in locks.clear(self.place.state_folder, PROJECT, name, self.engines[name].mark)
        ]
        engine, report = self.engines[name], self.reports[name]
        if pending:
            report.enter("resume")
            notes = recovery.resume(engine, pending, self.clients(name), report.hear, self.subscription(name))
            self.notes += [f"{name}: {note}" for note in notes]
