"""Which copy leads, and how it sees what changes in the cluster."""

import json
import threading
from typing import Any

import pytest

from tests.components.pools.joining_stand_ins import Api

import kube_http  # isort: skip
import kube_lease  # isort: skip


def leases(api: Api, *names: str) -> list[kube_lease.Lease]:
    return [kube_lease.Lease(api, "/lease", name, print) for name in names]


class Leases(Api):
    """With versions, as the API server keeps them."""

    def ask(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if method == "PUT":
            if body["metadata"]["resourceVersion"] != self.things[path]["metadata"]["resourceVersion"]:
                raise kube_http.Answer(409, "conflict")
            version = str(int(body["metadata"]["resourceVersion"]) + 1)
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        return json.loads(json.dumps(super().ask(method, path, body)))


def test_one_leads_until_it_is_silent_for_long(clock: Any) -> None:
    api = Leases(**{"/lease": {"metadata": {"resourceVersion": "1"}, "spec": None}})
    one, two = leases(api, "one", "two")
    assert one.step()
    assert not two.step()
    for _ in range(10):
        clock(10)
        assert one.step()
        assert not two.step()
    clock(14)
    assert not two.step()
    clock(2)
    assert two.step()
    assert not one.step(), "it sees that it lost"
    spec = api.things["/lease"]["spec"]
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("two", 2)
    two.release()
    assert one.step(), "at once"


def test_two_that_take_it_at_the_same_moment_do_not_both_get_it(clock: Any) -> None:
    api = Leases(**{"/lease": {"metadata": {"resourceVersion": "1"}}})
    one, two = leases(api, "one", "two")
    plain, there = Leases.ask, threading.local()

    def ask(method: str, path: str, body: Any = None, kind: str = "") -> Any:
        found = plain(api, method, path, body)
        if method == "GET" and not getattr(there, "nested", False):
            there.nested = True
            assert two.step()
            there.nested = False
        return found

    api.ask = ask  # type: ignore[method-assign]
    assert not one.step()


class Ended(Exception):
    """The test has seen enough."""


def test_a_watch_goes_on_where_it_was_and_lists_again_when_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    slept: list[float] = []

    class Server:
        """Watches in turn: changes by version, then how it ends."""

        def __init__(self) -> None:
            self.watches: list[tuple[list[str], Exception | None]] = [
                (["2", "3"], OSError("broken")),
                ([], OSError("refused")),
                ([], kube_http.Answer(410, "too old")),
                (["8"], None),
                ([], Ended()),
            ]

        def list(self, _path: str, keep: Any) -> Any:
            told.append("listed")
            return [keep("thing")], "7" if told.count("listed") > 1 else "1"

        def watch(self, _path: str, version: str, *_: Any) -> Any:
            told.append(f"from {version}")
            versions, end = self.watches.pop(0)
            for one in versions:
                yield "MODIFIED", {"metadata": {"resourceVersion": one}}
            yield "BOOKMARK", {"metadata": {"resourceVersion": versions[-1] if versions else version}}
            if end:
                raise end

    monkeypatch.setattr(kube_http.time, "sleep", slept.append)
    with pytest.raises(Ended):
        kube_http.follow(
            Server(),  # type: ignore[arg-type]
            "/x",
            lambda thing: thing,
            lambda items: told.append(items),
            lambda _kind, thing: told.append(thing["metadata"]["resourceVersion"]),
            lambda _text: None,
        )
    listed = ["listed", ["thing"]]
    assert told == [*listed, "from 1", "2", "3", "from 3", "from 3", *listed, "from 7", "8", "from 8"]
    assert len(slept) == 4, "also after one that ended at once"
