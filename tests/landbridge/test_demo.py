"""`landbridge demo burst`: the arithmetic of its picture, what it refuses, and what people read."""

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from fleet.world import current
from landbridge.commands import demo, landbridge, options
from landbridge.demo import burst, burst_state, prepare, shortage
from landbridge.demo.burst import Burst
from landbridge.demo.burst_state import Look, Moments
from landbridge.errors import LandbridgeError, UsageError
from landbridge.output import Output
from landbridge.pool.sizes import Group, Machine

WORLD = current(Path(__file__).parents[2] / "fleet.yaml")
MINE = burst_state.pools(WORLD.fleet, "main")
ROOM = {"site-gpu": 64, "west-gpu": 320, "east-gpu": 480, "eu-gpu": 1600, "south-gpu": 800}
NOTHING = Look(0, 0, 0, 0)


def made(gpus: int = 1600) -> Burst:
    session: Any = SimpleNamespace(world=WORLD, info=SimpleNamespace(name="main"))
    return Burst(session, gpus, MINE, 8, burst_state.shares(ROOM, gpus), dict.fromkeys(MINE, 0), {})


def test_pools_stand_in_the_order_in_which_they_fill_up() -> None:
    assert list(MINE) == list(ROOM)


@pytest.mark.parametrize(
    ("gpus", "shares", "machines"),
    [
        (1600, [64, 320, 480, 736, 0], 192),
        (2472, [64, 320, 480, 1600, 8], 301),
        (88, [64, 24, 0, 0, 0], 3),
        (8, [8, 0, 0, 0, 0], 0),
    ],
)
def test_each_pool_s_share_is_what_it_has_room_for(gpus: int, shares: list[int], machines: int) -> None:
    one = made(gpus)
    assert list(one.shares.values()) == shares
    assert one.machines == machines


GPUS = dict.fromkeys(list(ROOM)[1:], 8)


@pytest.mark.parametrize(
    ("gpus", "short"),
    [(1600, {"eu-gpu": 46}), (88, {"west-gpu": 1}), (72, {"west-gpu": 0}), (64, {}), (2472, {})],
)
def test_the_last_region_that_is_needed_has_hardware_for_half_of_its_share_where_another_one_comes(
    gpus: int, short: dict[str, int]
) -> None:
    assert shortage.halved(burst_state.shares(ROOM, gpus), GPUS) == short


def test_each_cloud_is_told_of_its_own_hardware_in_its_own_words() -> None:
    told = shortage.limits(WORLD.fleet, MINE, {"eu-gpu": 46, "south-gpu": 3})
    assert told == {
        "aws": [{"region": "eu-west-1", "instance_type": "p5.48xlarge", "capacity": 46}],
        "azure": [{"location": "southcentralus", "size": "Standard_ND96isr_H100_v5", "most": 3}],
    }


def test_machines_of_the_same_type_that_stand_there_count() -> None:
    before = {"site-gpu": 8, "eu-gpu": 5, "east-gpu": 7}
    assert prepare.alike(WORLD.fleet, before, "eu-gpu") == 5


def test_moments_are_of_the_last_rise_the_first_work_and_the_most() -> None:
    row = [
        (2.0, {"west": NOTHING}),
        (4.0, {"west": Look(40, 0, 0, 0)}),
        (6.0, {"west": Look(40, 40, 12, 96)}),
        (8.0, {"west": Look(41, 40, 40, 320)}),
        (10.0, {"west": Look(41, 41, 40, 320)}),
        (12.0, {"west": Look(0, 0, 0, 0)}),
    ]
    assert burst_state.moments(row, "west") == Moments(8.0, 6.0, 8.0)
    assert burst_state.moments(row[:1], "west") == Moments(None, None, None)
    assert burst_state.moments([], "west") == Moments(None, None, None)


def test_a_look_counts_running_pods_of_the_pool_s_own_nodes() -> None:
    def pod(node: str, phase: str) -> dict[str, Any]:
        container = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
        return {"spec": {"nodeName": node, "containers": [container]}, "status": {"phase": phase}}

    def node(name: str, ready: str) -> dict[str, Any]:
        return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}

    there = [node("i-1", "True"), node("i-2", "False")]
    pods = [pod("i-1", "Running"), pod("i-2", "Pending"), pod("host-1.lab", "Running")]
    group = Group("a", 0, 40, 3, (Machine("i-1", "a", "InService"), Machine("i-2", "a", "Terminating:Wait")), "no room")
    home = {"i-1": "west-gpu", "i-2": "west-gpu", "host-1.lab": "site-gpu"}
    found = burst_state.of_pool("west-gpu", MINE["west-gpu"], [group], there, pods, home)
    assert found == Look(asked=3, machines=2, ready=1, gpus=8, failure="no room", names=frozenset(("i-1", "i-2")))


def test_too_little_memory_is_told_with_the_number_that_fits() -> None:
    one = made()
    prepare.fits(one, 192 * prepare.MACHINE_MIB + prepare.SPARE_MIB)
    with pytest.raises(UsageError) as caught:
        prepare.fits(one, 10 * prepare.MACHINE_MIB + prepare.SPARE_MIB)
    assert "192 more local machines" in str(caught.value)
    assert f"--gpus {64 + 10 * 8} fits" in str(caught.value)


def test_it_buys_nothing_on_real_clouds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "the_cluster", lambda *_, **__: pytest.fail("a cluster was asked"))
    told = CliRunner().invoke(landbridge, ["demo", "burst"])
    assert isinstance(told.exception, UsageError)
    assert "add --local" in str(told.exception)


def test_without_a_picture_changes_are_told_and_what_stays_is_not() -> None:
    one, told = made(88), io.StringIO()
    screen = demo.Screen(one, Console(width=120, file=told))
    looked = [(1, 0, 0, 0), (3, 3, 0, 0), (5, 3, 1, 8), (7, 3, 2, 16), (21, 3, 2, 16), (23, 3, 3, 24)]
    for seconds, asked, ready, gpus in looked:
        screen.tell(float(seconds), {"west-gpu": Look(asked, asked, ready, gpus)})
    assert [line.strip() for line in told.getvalue().splitlines()] == [
        "1.0 s  west-gpu: 0 of 24 GPUs at work, 0 machines, 0 Ready",
        "3.0 s  west-gpu: 0 of 24 GPUs at work, 3 machines, 0 Ready",
        "21.0 s  west-gpu: 16 of 24 GPUs at work, 3 machines, 2 Ready",
        "23.0 s  west-gpu: 24 of 24 GPUs at work, 3 machines, 3 Ready",
    ]


def test_a_refusal_is_told_when_it_comes_and_not_with_each_machine_that_goes() -> None:
    one, told = made(88), io.StringIO()
    screen = demo.Screen(one, Console(width=120, file=told))
    for seconds, asked, failure in [(1, 0, ""), (3, 2, "no room"), (5, 1, "no room"), (7, 0, "no quota")]:
        screen.tell(float(seconds), {"west-gpu": Look(asked, asked, 0, 0, failure)})
    ends = [line.partition("Ready")[2] for line in told.getvalue().splitlines()]
    assert ends == ["", "; launches none: no room", "", "; launches none: no quota"]


def test_the_picture_fits_a_terminal_and_names_what_fails() -> None:
    one, told = made(), io.StringIO()
    one.row = [(9.0, {name: Look(60, 60, 60, one.shares[name], "no room") for name in MINE})]
    console = Console(width=80, file=told)
    console.print(demo.Screen(one, console).picture())
    one.ended = 10.0
    console.print(demo.Screen(one, console).picture())
    lines = [line.rstrip() for line in told.getvalue().splitlines()]
    assert lines[0].startswith("1600 of 1600 GPUs at work, ")
    assert re.search(r"^east-gpu   us-east-1       .{12}  480/480 GPUs  60 machines  60 Ready$", lines[3])
    assert lines[6] == "site-gpu launches none: no room"
    assert lines[11].startswith("The Job has ended; machines go after 5m without work, ")
    assert len(lines) == 17, "what was refused before matters no more"


def test_its_table_fits_a_terminal_and_cuts_no_place() -> None:
    one, told = made(), io.StringIO()
    one.row = [(9.0, {name: Look(60, 60, 60, one.shares[name]) for name in MINE})]
    one.full, one.ended, one.back = 9.0, 10.0, 20.0
    demo.show(one, Output(Console(width=80, file=told), Console(file=io.StringIO()), as_json=False))
    assert re.search(r"^south-gpu  southcentralus  +\d", told.getvalue(), re.MULTILINE)


def test_a_look_that_fails_is_another_look_s_turn_until_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    one = made(8)
    found = {name: Look(0, 0, 0, one.shares[name]) for name in MINE}
    answers: list[Any] = [LandbridgeError("no answer"), found]

    def look(*_: object) -> Any:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(burst_state, "look", look)
    monkeypatch.setattr(burst, "PAUSE_SECONDS", 0.01)
    told: list[float] = []
    one.fill(lambda seconds, _: told.append(seconds), 60)
    assert one.full is not None
    assert len(told) == 1
    answers[:] = [LandbridgeError("no answer")]
    with pytest.raises(LandbridgeError, match="no answer"):
        one.fill(lambda *_: None, 0.1)
    answers[:] = [{name: Look(2, 2, 2, 0) for name in MINE}]
    with pytest.raises(
        LandbridgeError, match=r"still machines of the burst: west-gpu 2, east-gpu 2, eu-gpu 2, south-gpu 2\."
    ):
        one.give_back(lambda *_: None, 0.1)
