"""Which stacks go before which others when a fleet is taken down, and whose machines an up waits for."""

import re

import pytest

from fleet.world import current
from landbridge.engine.stack_report import Phase
from landbridge.errors import LandbridgeError
from landbridge.up import order, schedule
from stacks.catalogue import StackSpec, catalogue
from tests.support.cloud import ROOT


@pytest.fixture(scope="module")
def ended() -> list[str]:
    """The example fleet's stacks in the order in which a destroy ends them."""
    fleet, done = current(ROOT / "fleet.yaml").fleet, list[str]()
    stacks = {stack.name: stack for stack in catalogue(fleet)}
    schedule.run(order.of_destroy(stacks), lambda name: not done.append(name))
    assert sorted(done) == sorted(stacks)
    return done


def test_add_ons_go_while_their_pods_have_kubelets_that_end_them(ended: list[str]) -> None:
    pools = ("site-gpu", "west-gpu", "east-gpu", "eu-gpu", "south-gpu", "cpu", "system")
    assert ended.index("main-addons") < min(map(ended.index, (*pools, "links")))


def test_nothing_goes_before_what_stands_on_it(ended: list[str]) -> None:
    fleet = current(ROOT / "fleet.yaml").fleet
    for stack in catalogue(fleet):
        assert all(ended.index(stack.name) < ended.index(below) for below in stack.depends_on), stack.name


def test_machines_do_not_change_their_cluster_or_region_and_the_way_is_named() -> None:
    stacks = [
        StackSpec("west", "region", "west"),
        StackSpec("cpu", "pool", "west", ("west", "prime")),
        StackSpec("lab", "pool", "west", ("west", "prime")),
        StackSpec("far", "pool", "east", ("east", "main")),
        StackSpec("new", "pool", "west", ("west", "prime")),
        StackSpec("west-laptops", "laptops", "west", ("west", "prime")),
    ]
    at = {"region": "west", "cluster": "main"}
    fits = {"lab": {**at, "site": "lab"}, "cpu": {**at, "cluster": "prime"}}
    order.refuse_elsewhere(stacks, lambda name: fits.get(name, {}), "")
    said = (
        "Nothing was changed: cpu stands in cluster main and not prime; far stands in region west and not east; west-laptops "
        "stands in cluster main and not prime. Machines stay what they were born as. If those may go, let them go first: "
        "`landbridge destroy --local cpu far west-laptops --ignore-protect`, then `landbridge up --local`"
    )
    with pytest.raises(LandbridgeError, match=f"^{re.escape(said)}$"):
        order.refuse_elsewhere(stacks, lambda name: at if name in ("cpu", "far", "west-laptops") else {}, " --local")


def test_machines_of_pools_that_failed_or_are_not_up_are_not_waited_for() -> None:
    fleet = current(ROOT / "fleet.yaml").fleet
    phases: dict[str, Phase] = {"system": "done", "cpu": "failed", "west-gpu": "skipped", "eu-gpu": "unchanged"}

    def stands(pool: str) -> bool:
        return pool not in ("east-gpu", "south-gpu")

    assert order.with_machines(fleet, "main", phases, stands) == ["site-gpu", "eu-gpu", "system"]
    assert order.with_machines(fleet, "other", phases, stands) == []


def test_a_stack_goes_with_those_that_stand_on_it_or_not_at_all() -> None:
    every = catalogue(current(ROOT / "fleet.yaml").fleet)
    above = [stack.name for stack in every if "main" in stack.depends_on]
    assert len(above) > 1
    order.refuse_below(["main", *above], every, lambda _stack: True, "")
    order.refuse_below(["main"], every, lambda _stack: False, "")
    with pytest.raises(
        LandbridgeError, match=f"^{above[0]} stands on main and would .* `landbridge destroy --local {above[0]} main"
    ):
        order.refuse_below(["main", *above[1:]], every, lambda _stack: True, " --local")


@pytest.mark.parametrize("chosen", [["us-west-2"], ["us-west-2", "main"], ["main"], ["links", "us-east-1"]], ids=str)
def test_what_a_refusal_names_is_not_refused(chosen: list[str]) -> None:
    every = catalogue(current(ROOT / "fleet.yaml").fleet)
    with pytest.raises(LandbridgeError) as caught:
        order.refuse_below(chosen, every, lambda _stack: True, " --local --ignore-protect")
    (words,) = re.findall(r"`landbridge destroy --local --ignore-protect ([^`]+)`", str(caught.value))
    assert set(words.split()) > set(chosen)
    order.refuse_below(words.split(), every, lambda _stack: True, "")


def test_a_stack_comes_up_with_those_that_it_reads_from_or_after_them() -> None:
    every = {stack.name: stack for stack in catalogue(current(ROOT / "fleet.yaml").fleet)}
    alone = {"main": every["main"]}
    order.refuse_alone(
        "main", {name: every[name] for name in ("main", "us-west-2", "us-east-1")}, lambda _stack: False, ""
    )
    order.refuse_alone("main", alone, lambda _stack: True, "")
    with pytest.raises(LandbridgeError, match=r"main stands on us-west-2 and us-east-1, which are not up. Bring all"):
        order.refuse_alone("main", alone, lambda _stack: False, "")
    with pytest.raises(
        LandbridgeError, match=r"us-east-1, which is not up. Bring both up: `landbridge up --local us-east-1 main`"
    ):
        order.refuse_alone("main", alone, lambda stack: stack != "us-east-1", " --local")
