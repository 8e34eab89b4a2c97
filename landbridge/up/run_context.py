"""The stacks that a run is for, and what it holds of each: all that is done beside the engine needs no more of it."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fleet.world import World
from landbridge.clouds.aws import lookups as aws_lookups
from landbridge.cluster import info
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import StackReport
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from stacks.catalogue import StackSpec

from .orphans import Orphan


@dataclass(frozen=True)
class How:
    """What the command line asks of the engine. `parallel`: operations at a time in a stack (None: Pulumi decides).

    `ignored`: rules of `guards` that the user does without. `full`: the engine also runs where nothing has changed.
    `check_quotas`: quotas are read first, and a run that has not enough of them is refused.
    """

    refresh: bool = False
    diff: bool = False
    parallel: int | None = None
    ignore_protect: bool = False
    with_volumes: bool = False
    ignored: tuple[str, ...] = ()
    full: bool = False
    check_quotas: bool = False


class RunContext:
    """What happens to each stack is in `reports`, and what people should know besides in `notes`."""

    def __init__(
        self,
        world: World,
        stacks: Iterable[StackSpec],
        place: Place,
        command: PulumiCommand,
        how: How,
        orphans: Mapping[str, Orphan],
    ) -> None:
        self.world, self.place, self.command, self.how = world, place, command, how
        self.orphans = orphans
        self.stacks = {stack.name: stack for stack in stacks}
        self.engines = {name: StackEngine(name, place, command) for name in self.stacks}
        self.reports = {name: StackReport(name) for name in self.stacks}
        self.notes: list[str] = list(place.notes)
        self.stop = threading.Event()

    @property
    def interrupted(self) -> bool:
        return self.stop.is_set()

    def state_of(self, name: str) -> Mapping[str, Any] | None:
        return StackEngine(name, self.place, self.command).state()

    def api(self, cluster: str) -> Kube | None:
        """None where that is not up."""
        try:
            return Session(self.world, self.place, info.read(self.place, cluster)).admin
        except LandbridgeError:
            return None

    def teller(self, report: StackReport) -> Callable[[str], None]:
        def tell(text: str) -> None:
            report.current = text
            if self.interrupted:
                raise LandbridgeError(f"interrupted; it was at: {text}")

        return tell

    def noter(self, name: str) -> Callable[[str], None]:
        return lambda text: self.notes.append(f"{name}: {text}")

    def subscription(self, name: str) -> str:
        """Of Azure; empty where neither the stack nor the fleet has one."""
        if name in self.orphans:
            return self.orphans[name].subscription
        azure = self.world.fleet.azure
        return azure.subscription_id if azure else ""

    def clients(self, name: str) -> aws_lookups.ClientOf:
        aws = self.world.fleet.aws
        account = aws.account_id if aws and self.place.world == "local" else None
        return aws_lookups.clients(self.stacks[name].region, account)
