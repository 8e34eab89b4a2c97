"""Which stacks a run of `up` reads from the cloud before it changes them, and whose images are there before."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from landbridge.fleet_run import FleetRun, How
from landbridge.story import Story
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
    assert FleetRun.looks_at_image(run(), name) is looks


def test_a_cloud_that_does_not_answer_us_fails_that_stack_and_is_no_mistake_of_ours() -> None:
    given_up: dict[str, Exception] = {}

    def asks(name: str) -> None:
        if name == "main":
            raise EndpointConnectionError(endpoint_url="https://ec2.us-west-2.amazonaws.com/")

    bed: Any = SimpleNamespace(
        stories={name: Story(name) for name in ("main", "west")},
        again=SimpleNamespace(through=lambda name, work, _: work(name)),
        resume=None,
        stop=threading.Event(),
        interrupt=None,
        give_up=given_up.__setitem__,
    )
    FleetRun.each(bed, {"main": (), "west": ()}, asks)
    assert [(name, type(error)) for name, error in given_up.items()] == [("main", EndpointConnectionError)]
