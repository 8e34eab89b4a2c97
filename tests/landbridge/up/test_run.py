"""Which stacks a run of `up` reads from the cloud before it changes them, and whose images are there before."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from pulumi.automation import CommandError, CommandResult

from fleet.buckets import RECOVER
from landbridge.engine.stack_report import Problem, StackReport
from landbridge.errors import LandbridgeError
from landbridge.up.run import FleetRun
from landbridge.up.run_context import How
from stacks.catalogue import StackSpec

REGIONS = {"west": SimpleNamespace(cloud="aws"), "south": SimpleNamespace(cloud="azure")}


def run(*, refresh: bool = False) -> Any:
    stacks = {
        "south": StackSpec("south", "region", "south"),
        "south-gpu": StackSpec("south-gpu", "pool", "south"),
        "west-gpu": StackSpec("west-gpu", "pool", "west"),
        "lab-gpu": StackSpec("lab-gpu", "pool", "west"),
        "south-laptops": StackSpec("south-laptops", "laptops", "south"),
        "west-laptops": StackSpec("west-laptops", "laptops", "west"),
    }
    return SimpleNamespace(
        stacks=stacks, how=How(refresh=refresh), world=SimpleNamespace(fleet=SimpleNamespace(regions=REGIONS))
    )


@pytest.mark.parametrize(
    ("name", "reads"), [("south", False), ("south-gpu", True), ("west-gpu", False), ("lab-gpu", False)]
)
def test_pools_in_azure_are_read_first_and_others_where_that_is_asked_for(name: str, reads: bool) -> None:
    assert FleetRun.reads(run(), name) is reads
    assert FleetRun.reads(run(refresh=True), name)


@pytest.mark.parametrize(
    ("name", "looks"), [("south", False), ("south-gpu", True), ("south-laptops", True), ("west-laptops", False)]
)
def test_programs_that_look_at_an_image_find_it(name: str, looks: bool) -> None:
    assert FleetRun.reads_image(run(), name) is looks


def test_a_cloud_that_does_not_answer_us_fails_that_stack_and_is_no_mistake_of_ours() -> None:
    given_up: dict[str, Exception] = {}

    def asks(name: str) -> None:
        if name == "main":
            raise EndpointConnectionError(endpoint_url="https://ec2.us-west-2.amazonaws.com/")

    bed: Any = SimpleNamespace(
        reports={name: StackReport(name) for name in ("main", "west")},
        again=SimpleNamespace(through=lambda name, work, _: work(name)),
        resume=None,
        stop=threading.Event(),
        interrupt=None,
        give_up=given_up.__setitem__,
    )
    FleetRun.each(bed, {"main": (), "west": ()}, asks)
    assert [(name, type(error)) for name, error in given_up.items()] == [("main", EndpointConnectionError)]


SECRET = "cannot create already existing resource '/subscriptions/1/vaults/v/secrets/ssh'"


class Engine:
    """Of which each run of `up` ends with the next of `ends`, None for well; `told` is what the program is told."""

    def __init__(self, report: StackReport, ends: list[str | None]) -> None:
        self.report, self.ends, self.runs, self.told = report, ends, list[bool](), list[tuple[str, str | None]]()

    def up(self, _hear: object, *, refresh: bool, parallel: int | None) -> None:
        self.runs.append(refresh)
        if message := self.ends.pop(0):
            self.report.problems.append(Problem("azure-native:keyvault:Secret", "ssh", message))
            raise CommandError(CommandResult(stdout="", stderr=message, code=1))

    def set_program_variable(self, name: str, value: str | None) -> None:
        self.told.append((name, value))


def up_stack(
    ends: list[str | None], *, recovering: bool = False, interrupted: bool = False
) -> tuple[Engine, list[str]]:
    report, resumed = StackReport("south"), list[str]()
    engine = Engine(report, ends)

    def resume(name: str, _why: str) -> None:
        report.problems.clear()
        resumed.append(name)

    bed: Any = SimpleNamespace(
        engines={"south": engine},
        reports={"south": report},
        how=How(refresh=True),
        reads=lambda _: True,
        resume=resume,
        interrupted=interrupted,
        recovering={"south"} if recovering else set(),
    )
    bed.heed_interrupt = lambda: FleetRun.heed_interrupt(bed)
    FleetRun.up_stack(bed, "south")
    return engine, resumed


def test_secrets_that_came_back_with_their_vault_are_kept_one_after_the_other() -> None:
    engine, resumed = up_stack([SECRET, SECRET, None, None], recovering=True)
    assert (engine.runs, resumed, engine.told) == ([True, False, False, False], ["south", "south"], [(RECOVER, None)])


def test_they_are_kept_by_a_later_run_as_well_that_finds_the_vault_standing() -> None:
    engine, resumed = up_stack([SECRET, None])
    assert (engine.runs, resumed, engine.told) == ([True, False], ["south"], [])


def test_all_else_that_fails_fails_at_once_and_an_interrupt_starts_no_run_more() -> None:
    for ends, interrupted in (([SECRET.replace("secrets", "keys"), None], False), ([SECRET, None], True)):
        with pytest.raises(CommandError):
            up_stack(ends, recovering=True, interrupted=interrupted)
        assert ends == [None]
    ends = [None, None]
    with pytest.raises(LandbridgeError, match="interrupted"):
        up_stack(ends, recovering=True, interrupted=True)
    assert ends == [None]
