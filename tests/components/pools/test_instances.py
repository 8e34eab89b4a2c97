"""Which instances there are: asked rarely, believed for a while, and never made up."""

import time
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.components.pools.joining_bed import WEST
from tests.components.pools.joining_stand_ins import ONE, Ec2, region

import api_aws  # isort: skip
import instances  # isort: skip
import join_rules  # isort: skip
from instances_aws import Ec2 as Source  # isort: skip


def test_an_unknown_instance_is_asked_for_at_once_and_the_rest_a_minute(clock: Any) -> None:
    ec2 = Ec2(i_1="running", i_2="running", i_3="pending")
    west = region(ec2)
    west.step()
    assert len(ec2.calls) == 2, "in pages"
    assert isinstance(west.look("i-1"), join_rules.Instance)
    clock(10)
    west.step()
    assert len(ec2.calls) == 2, "nothing was due"
    assert isinstance(west.look("i-9"), join_rules.Unsure)
    ec2.states["i-9"] = "running"
    west.step()
    assert ec2.calls[2:] == [{"MaxResults": "1000", "Filter__1__Name": "instance-id", "Filter__1__Value__1": "i-9"}]
    assert west.look("i-9") == join_rules.Instance("i-9", "running", "g", "10.0.0.1")
    assert isinstance(west.look("i-8"), join_rules.Unsure)
    west.step()
    assert west.look("i-8") is None
    clock(6)
    assert isinstance(west.look("i-8"), join_rules.Unsure), "it may be there by now"


def test_hundreds_are_asked_for_in_few_questions(clock: Any) -> None:
    ec2 = Ec2()
    west = region(ec2)
    west.step()
    for number in range(450):
        west.look(f"i-{number}")
    west.step()
    assert len(ec2.calls) - 1 == 3


def test_a_region_that_does_not_answer_says_nothing_of_anybody(clock: Any) -> None:
    ec2 = Ec2(i_1="running")
    west = region(ec2)
    west.step()
    ec2.down = True
    clock(61)
    west.step()
    assert isinstance(west.look("i-1"), join_rules.Instance), "believed for a while"
    clock(200)
    west.step()
    assert isinstance(west.look("i-1"), join_rules.Unsure)
    west.step()
    for _ in range(10):
        assert not west.gone("i-1", 120)
        assert not west.wanted, "thousands would be asked for one by one when it is back"
        clock(61)
        west.step()
    ec2.down = False
    ec2.states.clear()
    clock(61)
    west.step()
    assert not west.gone("i-1", 120)
    west.step()
    assert not west.gone("i-1", 120), "one answer is none"
    clock(121)
    west.step()
    assert west.gone("i-1", 120)


@pytest.mark.parametrize("state", ["pending", "running", "shutting-down", "stopping", "stopped"])
def test_whatever_is_not_terminated_is_not_gone(clock: Any, state: str) -> None:
    ec2 = Ec2(i_1=state)
    west = region(ec2)
    for _ in range(5):
        west.step()
        assert not west.gone("i-1", 120)
        clock(61)
    ec2.states["i-1"] = "terminated"
    seen = []
    for _ in range(5):
        west.step()
        seen.append(west.gone("i-1", 120))
        clock(61)
    assert seen == [False, False, False, True, True]


def test_one_that_was_missing_once_and_came_back_begins_anew(clock: Any) -> None:
    ec2 = Ec2(i_1="running")
    west = region(ec2)
    west.step()
    del ec2.states["i-1"]
    clock(200)
    west.step()
    west.gone("i-1", 120)
    west.step()
    ec2.states["i-1"] = "running"
    clock(100)
    west.step()
    del ec2.states["i-1"]
    clock(200)
    for _ in range(2):
        west.step()
        assert not west.gone("i-1", 120)


def test_an_answer_of_aws_that_is_none_stops_no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_action: str, **_asked: str) -> Any:
        raise problems.pop(0)

    problems: list[Exception] = [api_aws.Refused(403, "no"), OSError("x"), ElementTree.ParseError("y")]
    west = instances.Region(WEST, Source(["g"], ask))
    for _ in range(3):
        west.listed = 0.0
        west.step()
        assert isinstance(west.look(ONE), join_rules.Unsure)
    assert time.monotonic() - west.answered_at > 1e6
