"""Which of several clusters a run goes to, and what is said of the others."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from landbridge.access.person import Person
from landbridge.errors import LandbridgeError, UsageError
from landbridge.experiments import anywhere
from landbridge.experiments.hosts import Hosts
from landbridge.experiments.launching import Prepared
from landbridge.experiments.offer import Choice, Offer
from landbridge.experiments.spec import Given, Run

OWN = Choice("room", "room-gpu", site=True, free=16, of=16, buys=0, usd_an_hour=0.0, fits=True)
CHEAP = Choice("west", "west-gpu", site=False, free=16, of=16, buys=2, usd_an_hour=80.0, fits=True)
DEAR = CHEAP._replace(usd_an_hour=110.08)
UNKNOWN = CHEAP._replace(usd_an_hour=None)
GIVEN = Given(Run(command=["true"], gpus=16, cluster="any"), "", {})


def offer(choice: Choice, waits: str = "", ahead: int = 0) -> Offer:
    return Offer(Hosts(2, 8), [choice], choice, waits, "", ahead)


def went(monkeypatch: pytest.MonkeyPatch, **offers: Offer | str) -> anywhere.Found:
    """Among clusters with these offers, or these mistakes."""

    def prepare(_: Given, person: Person, __: Path) -> Prepared:
        if isinstance(found := offers[person.cluster], str):
            raise LandbridgeError(found)
        return cast(Prepared, SimpleNamespace(person=person, offer=found))

    monkeypatch.setattr(anywhere, "prepare", prepare)
    return anywhere.anywhere(GIVEN, Path(), [*offers], lambda name: cast(Person, SimpleNamespace(cluster=name)))


@pytest.mark.parametrize(
    ("first", "then", "why"),
    [
        (offer(CHEAP), offer(OWN), "it would begin in west, with machines to buy for $80.00 an hour"),
        (offer(DEAR), offer(CHEAP), "it would begin in west, with machines to buy for $110.08 an hour"),
        (offer(UNKNOWN), offer(DEAR), "it would begin in west, with machines to buy at an unknown price"),
        (offer(OWN, "no place has 16 GPUs free"), offer(DEAR), "it would wait: no place has 16 GPUs free"),
        (offer(OWN, "3 wait", 3), offer(OWN, "1 waits", 1), "it would wait: 3 wait"),
        ("main does not answer", offer(OWN), "main does not answer"),
    ],
)
def test_it_goes_where_it_begins_soonest_and_then_where_it_is_cheapest(
    monkeypatch: pytest.MonkeyPatch, first: Offer | str, then: Offer, why: str
) -> None:
    for offers in ({"main": first, "second": then}, {"second": then, "main": first}):
        found = went(monkeypatch, **offers)
        assert (found.chosen.person.cluster, found.others) == ("second", {"main": why})


def test_of_two_that_are_alike_it_takes_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = went(monkeypatch, main=offer(OWN), second=offer(OWN))
    assert (found.chosen.person.cluster, found.others) == ("main", {"second": "it would begin in room, too"})


def test_where_no_cluster_takes_it_each_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^No cluster can take it:\nmain: too few GPUs\nsecond: it is away$"):
        went(monkeypatch, main="too few GPUs", second="it is away")
    with pytest.raises(UsageError, match=r"^--image: there is none$"):
        went(monkeypatch, main="--image: there is none", second="--image: there is none")
    with pytest.raises(UsageError, match="no cluster of the fleet has queues"):
        went(monkeypatch)
