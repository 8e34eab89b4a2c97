"""What is refused before anything is created."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from fleet.model import Images
from landbridge.access.person import Person
from landbridge.errors import UsageError
from landbridge.experiments import checks, launching, registry
from landbridge.experiments.hosts import Hosts
from landbridge.experiments.offer import Choice, Offer
from landbridge.experiments.spec import Given, Run

DEAR = Choice("west", "west-gpu", site=False, free=16, of=16, buys=2, usd_an_hour=110.08, fits=True)
OWN = Choice("room", "room-gpu", site=True, free=8, of=16, buys=0, usd_an_hour=0.0, fits=False)
DIGEST = f"sha256:{64 * 'a'}"
UNKNOWN = DEAR._replace(place="south", usd_an_hour=None)


def given(**fields: Any) -> Given:
    return Given(Run(command=["true"], gpus=16, **fields), "", {})


def offered(*choices: Choice) -> Offer:
    return Offer(Hosts(2, 8), choices, choices[0], "", "", 0)


def test_what_costs_more_than_is_meant_is_refused() -> None:
    checks.price(given(max_price=120.0), offered(DEAR))
    with pytest.raises(
        UsageError, match=r"^--max-price: it would cost \$110\.08 an hour in west, and \$100 is the most"
    ):
        checks.price(given(max_price=100.0), offered(DEAR))


def test_where_nobody_has_said_a_price_there_is_no_bound_to_keep() -> None:
    with pytest.raises(UsageError, match=r"nobody has said what machines of west-gpu cost.*regions\.south\.prices"):
        checks.price(given(max_price=100.0), offered(UNKNOWN))


def test_a_run_may_go_nowhere_dearer_later() -> None:
    choices = offered(OWN, DEAR, UNKNOWN)
    assert launching.places_of(given().run, choices) == ("room", "west", "south")
    assert launching.places_of(given(max_price=100.0).run, choices) == ("room",)
    small = OWN._replace(place="closet", of=8)
    assert launching.places_of(given().run, offered(OWN, small)) == ("room",)


def person(image: str | None = None, **found: Any) -> Person:
    fleet = SimpleNamespace(images=Images(runs=image))
    world = SimpleNamespace(fleet=fleet, path=SimpleNamespace(name="fleet.yaml"))
    kube = SimpleNamespace(find=lambda kind, name, *_: found.get(name))
    return cast(Person, SimpleNamespace(world=world, kube=kube, namespace="team-vision"))


def pinned(given: Given, person: Person) -> str:
    return checks.image(given, person)[0].partition("@")[0]


def test_an_image_is_the_run_s_or_the_fleet_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "digest", lambda _: DIGEST)
    assert pinned(given(image="a/b:1"), person("c/d:1")) == "a/b:1"
    assert pinned(given(), person("c/d:1")) == "c/d:1"
    with pytest.raises(UsageError, match=r"Which image\? Name one with --image, .* in fleet\.yaml: images:") as told:
        checks.image(given(), person())
    remedy = re.search(r"images: (\{.*\})\.$", str(told.value))
    assert remedy
    taken = Images.model_validate(YAML(typ="safe").load(remedy[1]))
    assert pinned(given(), person(taken.runs)) == taken.runs


def test_an_image_goes_on_by_its_digest_and_one_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> str:
        raise registry.AbsentError("docker.io has no a/b with the tag 2")

    def silent(_: str) -> str:
        raise registry.SilentError("docker.io does not answer (Connection refused)")

    monkeypatch.setattr(registry, "digest", lambda _: DIGEST)
    assert checks.image(given(image="a/b:1"), person()) == (f"a/b:1@{DIGEST}", "")
    assert checks.image(given(image=f"a/b@{DIGEST}"), person()) == (f"a/b@{DIGEST}", "")
    monkeypatch.setattr(registry, "digest", absent)
    with pytest.raises(UsageError, match=r"^--image: docker\.io has no a/b with the tag 2\. Push it there"):
        checks.image(given(image="a/b:2"), person())
    with pytest.raises(UsageError, match=r"^fleet\.yaml: images\.runs: docker\.io has no"):
        checks.image(given(), person("a/b:2"))
    monkeypatch.setattr(registry, "digest", silent)
    assert checks.image(given(image="a/b:1"), person()) == (
        "a/b:1",
        "docker.io does not answer (Connection refused): whether a/b:1 is there is not known, and its tag may name "
        "another image later.",
    )


def test_a_name_is_free_and_not_too_long() -> None:
    checks.name(given(), person(), "free")
    with pytest.raises(UsageError, match="there is a run taken already"):
        checks.name(given(), person(taken={"kind": "JobSet"}), "taken")
    with pytest.raises(UsageError, match="has 33 characters, and 32 are the most"):
        checks.name(given(), person(), "a" * 33)
