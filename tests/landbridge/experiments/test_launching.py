"""What is refused before anything is created."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from fleet.model import Images
from landbridge.access.person import Person
from landbridge.errors import UsageError
from landbridge.experiments import launching
from landbridge.experiments.hosts import Hosts
from landbridge.experiments.offer import Choice, Offer
from landbridge.experiments.spec import Given, Run

DEAR = Choice("west", "west-gpu", site=False, free=16, of=16, buys=2, usd_an_hour=110.08, fits=True)
OWN = Choice("room", "room-gpu", site=True, free=8, of=16, buys=0, usd_an_hour=0.0, fits=False)
UNKNOWN = DEAR._replace(place="south", usd_an_hour=None)


def given(**fields: Any) -> Given:
    return Given(Run(command=["true"], gpus=16, **fields), "", {})


def offered(*choices: Choice) -> Offer:
    return Offer(Hosts(2, 8), choices, choices[0], "", "")


def test_what_costs_more_than_is_meant_is_refused() -> None:
    launching._check_price(given(max_price=120.0), offered(DEAR))
    with pytest.raises(
        UsageError, match=r"^--max-price: it would cost \$110\.08 an hour in west, and \$100 is the most"
    ):
        launching._check_price(given(max_price=100.0), offered(DEAR))


def test_where_nobody_has_said_a_price_there_is_no_bound_to_keep() -> None:
    with pytest.raises(UsageError, match=r"nobody has said what machines of west-gpu cost.*regions\.south\.prices"):
        launching._check_price(given(max_price=100.0), offered(UNKNOWN))


def test_a_run_may_go_nowhere_dearer_later() -> None:
    choices = offered(OWN, DEAR, UNKNOWN)
    assert launching._places(given().run, choices) == ("room", "west", "south")
    assert launching._places(given(max_price=100.0).run, choices) == ("room",)
    small = OWN._replace(place="closet", of=8)
    assert launching._places(given().run, offered(OWN, small)) == ("room",)


def person(image: str | None = None, **found: Any) -> Person:
    fleet = SimpleNamespace(images=Images(runs=image))
    world = SimpleNamespace(fleet=fleet, path=SimpleNamespace(name="fleet.yaml"))
    kube = SimpleNamespace(find=lambda kind, name, *_: found.get(name))
    return cast(Person, SimpleNamespace(world=world, kube=kube, namespace="team-vision"))


def test_an_image_is_the_run_s_or_the_fleet_s() -> None:
    assert launching._image(given(image="a/b:1"), person("c/d:1")) == "a/b:1"
    assert launching._image(given(), person("c/d:1")) == "c/d:1"
    with pytest.raises(UsageError, match=r"Which image\? Name one with --image, .* in fleet\.yaml: images:") as told:
        launching._image(given(), person())
    remedy = re.search(r"images: (\{.*\})\.$", str(told.value))
    assert remedy
    taken = Images.model_validate(YAML(typ="safe").load(remedy[1]))
    assert launching._image(given(), person(taken.runs)) == taken.runs


def test_a_name_is_free_and_not_too_long() -> None:
    launching._check_name(given(), person(), "free")
    with pytest.raises(UsageError, match="there is a run taken already"):
        launching._check_name(given(), person(taken={"kind": "JobSet"}), "taken")
    with pytest.raises(UsageError, match="has 33 characters, and 32 are the most"):
        launching._check_name(given(), person(), "a" * 33)
