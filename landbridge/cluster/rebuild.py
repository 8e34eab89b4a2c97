"""The rebuild of a cluster whose region is lost, in another one, from what was copied there. Calls only the latter.

Each step is decided from what is (the origin file, the stacks, the cloud), so that an interrupted rebuild goes on where
it stopped: the first that it does is to write down exactly what it takes. See docs/decisions/0009-cluster-rebuild.md.
"""

import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from pulumi.automation import CommandError

from components.control_plane.rotation import all_generations
from fleet import rebuilds, rotations
from fleet.buckets import bucket_name
from fleet.rebuilds import Origin
from fleet.world import World
from landbridge import places
from landbridge.clouds.cloud import Bucket, Cloud
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.errors import INTERRUPTED, LandbridgeError, UsageError
from landbridge.etcd import store as stores
from landbridge.etcd.restore import Restore, Source
from landbridge.etcd.restore_command import froze, old
from landbridge.etcd.store import Snapshot
from landbridge.output import Output
from landbridge.places import Place
from landbridge.up import consent
from landbridge.up.recovery import resources
from landbridge.up.report import Report
from landbridge.up.run import FleetRun
from landbridge.up.run_context import How
from stacks.catalogue import catalogue

from . import bootstrap, info, rebuild_state, surviving_copies
from .rebuild_state import Stage, Standing
from .session import Session, cloud_in

ANSWER_SECONDS = 5.0
Consent = Callable[["Taken"], None]


class RebuildError(LandbridgeError):
    """The rebuild stopped; called again, it goes on from there."""


class Taken(NamedTuple):
    """What a rebuild takes."""

    cluster: str
    origin: Origin
    revision: int | None
    at: datetime
    copies: int

    def lines(self) -> list[str]:
        """For whoever is to agree."""
        one = self.origin
        return [
            f"{self.cluster} is brought up in {one.region} from what was copied there; {one.lost} counts as lost.",
            f"etcd main goes back to {one.snapshot}: revision {self.revision}, {old(self.at)} old, one of "
            f"{self.copies} copies. Lost: everything written after {self.at:%Y-%m-%d %H:%M:%S} UTC, and all events.",
            f"Keys come from {one.secret}, which is parted from {one.lost}: credentials, tokens and Secrets stay good.",
        ]


class Rebuild:
    """One run of `landbridge cluster rebuild`."""

    def __init__(self, world: World, place: Place, name: str, out: Output, source: str | None = None) -> None:
        """`source` is a copy of a snapshot by its key; None: the newest."""
        self.world, self.place, self.name, self.out, self.source = world, place, name, out, source
        self.cluster = world.fleet.clusters[name]
        self.region, self.path = self.cluster.region, rebuilds.rebuilds_path(world.path)
        self.begun = time.monotonic()
        self.done: dict[str, Any] = {}

    def tell(self, line: str) -> None:
        self.out.progress.print(line, markup=False, soft_wrap=True)

    @cached_property
    def command(self) -> PulumiCommand:
        return PulumiCommand(places.pulumi_root())

    @cached_property
    def cloud(self) -> Cloud:
        """The one of the region that is left."""
        return cloud_in(self.world, self.place, self.region)

    @cached_property
    def store(self) -> Bucket:
        return self.cloud.bucket(bucket_name(self.world.fleet, self.region))

    @property
    def origin(self) -> Origin | None:
        return rebuilds.load(self.path).get(self.name)

    def engine(self, stack: str) -> StackEngine:
        return StackEngine(stack, self.place, self.command)

    def run(self, agree: Consent, *, although_alive: bool) -> Origin:
        """All steps that are left. Raises LandbridgeError; `agree` raises ConsentError."""
        stage, before = self.look()
        origin = self.origin
        if stage == "done":
            assert origin is not None
            return origin
        if not although_alive:
            self.refuse_alive(before)
        if stage == "begin":
            origin = self.begin(before, agree)
            stage = "keys"
        else:
            self.go_on(origin)
        assert origin is not None
        if self.cloud.adopt(origin.secret):
            self.tell(f"{origin.secret} is a secret of {self.region}'s own now")
        if stage == "keys":
            self.put_aside(origin.lost)
        self.up()
        return self.restore(origin)

    def go_on(self, origin: Origin | None) -> None:
        """Raises UsageError when another snapshot is asked for than the one that was agreed on."""
        assert origin is not None
        if self.source is not None and self.source not in (origin.snapshot, origin.snapshot.rpartition("/")[2]):
            raise UsageError(
                f"The rebuild of {self.name} was begun from {origin.snapshot} and goes on from it: leave --from away. "
                f"Any other copy can be restored afterwards: `landbridge etcd restore --from {self.source}`."
            )
        self.tell(f"going on with the rebuild of {self.name} in {self.region}, from {origin.snapshot}")

    def look(self) -> tuple[Stage, Standing]:
        """How far it is, and what the lost stack says. Raises UsageError when there is nothing to rebuild."""
        origin, here = self.origin, rebuild_state.standing(self.engine(self.name).state())
        if origin is None:
            return rebuild_state.stage(self.name, self.region, None, here, aside=False), here
        aside = rebuild_state.standing(self.engine(f"{self.name}{rebuild_state.suffix(origin.lost)}").state())
        stage = rebuild_state.stage(self.name, self.region, origin, here, aside=bool(aside.region))
        return stage, aside if stage == "stack" else here

    def refuse_alive(self, before: Standing) -> None:
        """Raises UsageError while the API of the lost region answers: two control planes would have the same keys."""
        if before.endpoint and answers(before.endpoint, before.authority):
            raise UsageError(
                f"Nothing was changed: {self.name} in {before.region} still answers ({before.endpoint}). Rebuilt "
                f"beside it, there would be two clusters with the same keys, each with data that the other lacks. End "
                f"its machines first; if nobody else reaches it and that can't be done: --although-alive."
            )

    def begin(self, before: Standing, agree: Consent) -> Origin:
        """Finds what to take, asks, and writes it down: from here on the same is taken, however often it stops."""
        if self.cluster.copies == before.region:
            raise UsageError(
                f"{self.world.path.name}: clusters.{self.name}.copies is {before.region}, the region that is lost. "
                f"Take it away, or name a third region; set it again when {before.region} is back."
            )
        aside = f"{self.name}{rebuild_state.suffix(before.region)}"
        if resources(self.engine(aside).state()):
            raise UsageError(
                f"The stack {aside} of an earlier loss has not been destroyed: `landbridge destroy {aside} "
                "--ignore-protect`, then run this again."
            )
        copies = self.copies(before)
        chosen = surviving_copies.pick(copies, self.source)
        keys = surviving_copies.keys(self.cloud, before.secret)
        wanted = all_generations(rotations.load(rotations.rotations_path(self.world.path)).get(self.name, {}))
        if unfit := list(rebuild_state.unfit(before, self.cluster.kubernetes, wanted, keys)):
            raise UsageError(f"Nothing was changed: {self.name} can't be rebuilt so: {'; '.join(unfit)}.")
        origin = Origin(
            lost=before.region,
            region=self.region,
            secret=before.secret,
            snapshot=chosen.key,
            issuer=keys.issuer,
            generations=keys.generations,
        )
        agree(Taken(self.name, origin, stores.revision(chosen.key), stores.taken(chosen), len(copies)))
        self.begun = time.monotonic()
        self.write(origin)
        return origin

    def copies(self, before: Standing) -> list[Snapshot]:
        """Of etcd main, the oldest first. Raises LandbridgeError, with what there is, unless keys are there, too."""
        prefix = surviving_copies.folder(before.region, self.name)
        found = stores.below(self.store, prefix)
        if found and before.secret and self.cloud.has_secret(before.secret):
            return found
        there = surviving_copies.secrets(self.cloud, f"{self.world.fleet.fleet}/{self.name}")
        others = {home: copies[-1].key for home, copies in surviving_copies.anywhere(self.store, self.name).items()}
        raise LandbridgeError(
            rebuild_state.lacking(self.name, self.region, self.store.where(prefix), before, others, there)
        )

    def write(self, origin: Origin) -> None:
        rebuilds.write(self.path, {**rebuilds.load(self.path), self.name: origin})

    def put_aside(self, region: str) -> None:
        """The lost stack under another name, so that what is left there can be destroyed some day."""
        aside = f"{self.name}{rebuild_state.suffix(region)}"
        try:
            if (emptied := self.engine(aside)).state() is not None:
                emptied.remove()
            self.engine(self.name).rename(aside)
        except CommandError as error:
            raise RebuildError(f"The stack {self.name} could not be put aside as {aside}: {error}") from None
        self.tell(f"what stood in {region} is the stack {aside} now")

    def up(self) -> None:
        """The cluster's stack in the new region, until its API answers. Raises RebuildError."""
        stack = next(stack for stack in catalogue(self.world.fleet) if stack.name == self.name)
        run = FleetRun(self.world, [stack], self.place, self.command, How())
        report = Report("up", run, self.out)
        with report.screen.shown():
            run.preview()
        self.stop_if_failed(run, report)
        consent.refuse(run.refusals)
        if run.pending:
            # Whoever agreed to the rebuild agreed to whatever it creates.
            allowed = {"create": run.blast.total("create")}
            consent.ask_up(run.blast, self.world.fleet.limits, allowed, yes=True, interactive=self.out.interactive)
        with report.screen.shown():
            run.up()
        self.stop_if_failed(run, report)

    def stop_if_failed(self, run: FleetRun, report: Report) -> None:
        if run.failed or run.interrupted:
            code = report.end() if not self.out.as_json else report.code(expect_no_changes=False)
            problems = "; ".join(problem.message for report in run.reports.values() for problem in report.problems)
            raise RebuildError(
                f"The rebuild of {self.name} stopped at its up{f': {problems}' if problems else ''}. "
                "Nothing was restored yet; "
                "run the command again: it goes on from here.",
                INTERRUPTED if run.interrupted else code,
            )

    def restore(self, origin: Origin) -> Origin:
        """Etcd main back to the snapshot that the origin names, scale-down frozen, and that written down."""
        session = Session(self.world, self.place, info.read(self.place, self.name))
        found = {one.key: one for one in self.store.listed(origin.snapshot)}
        if origin.snapshot not in found:
            raise RebuildError(f"The snapshot {origin.snapshot} is gone from {session.info.bucket}: undelete it there.")
        source = Source(origin.snapshot, stores.taken(found[origin.snapshot]), f"the copy {origin.snapshot}")
        restored = Restore(session.remote, session.info, self.store, "main", self.tell).run(source, None)
        problem = froze(session, restored)
        # Only now: whoever stops before gets the same snapshot once more, and nobody was told that it is done.
        finished = origin.model_copy(update={"restored": datetime.now(UTC)})
        self.write(finished)
        self.done = {**restored.as_json(), "frozen": not problem, "freeze_problem": problem or None}
        # The API began anew: what the snapshot lacks of rights for admins and teams.
        bootstrap.ensure(self.world, self.place, self.name, self.tell, self.tell)
        self.done["seconds"] = round(time.monotonic() - self.begun, 1)
        return finished


def answers(endpoint: str, authority: str) -> bool:
    """Whether an API server with this authority answers, whatever it says. Asks for what needs no credential."""
    context = ssl.create_default_context(cadata=authority)
    try:
        with urllib.request.urlopen(f"{endpoint}/livez", timeout=ANSWER_SECONDS, context=context):  # noqa: S310
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:  # no name, no way, no answer, or somebody else's
        return False
