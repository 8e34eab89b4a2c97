"""Approves and denies the kubelets' certificate signing requests: watches them, asks the rules, writes the verdict."""

import heapq
import itertools
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from departed import Departures
from instances import Instances
from join_rules import USES, Facts, Pool, Verdict, judge
from machine import say
from nodes import Nodes

from kube_http import Answer, Json, Kube

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
WORKERS = 4
FIRST_PAUSE, MOST_PAUSE = 0.25, 4.0
REASONS = {"approve": ("Approved", "LandbridgeMachine"), "deny": ("Denied", "LandbridgeRefused")}


def verdict_written(request: Json, verdict: Verdict, now: datetime) -> Json:
    """The request with its condition, for its subresource `approval`."""
    kind, reason = REASONS[verdict.kind]
    condition = {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": verdict.why,
        "lastUpdateTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    conditions = [*(request.get("status") or {}).get("conditions", []), condition]
    return {**request, "status": {**(request.get("status") or {}), "conditions": conditions}}


def undecided(thing: Json) -> Json | None:
    """The request, if it waits for a verdict of ours."""
    decided = (thing.get("status") or {}).get("conditions")
    return None if decided or thing["spec"].get("signerName") not in USES else thing


class Approver:
    """`due` is a heap of moments and names; a request that has to wait comes again later and later."""

    def __init__(
        self,
        kube: Kube,
        told: Any,
        pools: Mapping[str, Pool],
        instances: Instances,
        nodes: Nodes,
        departures: Departures,
    ) -> None:
        self.kube, self.pools, self.instances, self.nodes = kube, pools, instances, nodes
        self.lans: Mapping[str, str] = told["lans"]
        self.departures = departures
        self.pending: dict[str, Json] = {}
        self.due: list[tuple[float, int, str, float]] = []
        self.numbers = itertools.count()
        self.ready = threading.Condition()

    def start(self) -> None:
        for _ in range(WORKERS):
            threading.Thread(target=self.work, daemon=True).start()

    def listed(self, items: list[Json]) -> None:
        with self.ready:
            self.pending.clear()
        for thing in items:
            self.changed("ADDED", thing)

    def changed(self, kind: str, thing: Json) -> None:
        name = thing["metadata"]["name"]
        with self.ready:
            if kind == "DELETED" or undecided(thing) is None:
                self.pending.pop(name, None)
                return
            self.pending[name] = thing
            self._again(name, 0.0, FIRST_PAUSE)

    def _again(self, name: str, pause: float, following: float) -> None:
        heapq.heappush(self.due, (time.monotonic() + pause, next(self.numbers), name, following))
        self.ready.notify()

    def hurry(self) -> None:
        """There is news: everything that waits is looked at now."""
        with self.ready:
            now = time.monotonic()
            self.due = [(now, next(self.numbers), name, FIRST_PAUSE) for name in self.pending]
            self.ready.notify_all()

    def work(self) -> None:
        """For ever."""
        while True:
            name, pause = self._next()
            try:
                self.one(name, pause)
            except (Answer, OSError) as error:
                say(f"request {name} is looked at again in {pause:g} s: {error}")
                with self.ready:
                    self._again(name, pause, min(2 * pause, MOST_PAUSE))
            except Exception as error:
                # It stays pending, which gives nothing to anybody.
                say(f"ERROR: request {name} was not judged: {type(error).__name__}: {error}")

    def _next(self) -> tuple[str, float]:
        with self.ready:
            while True:
                left = self.due[0][0] - time.monotonic() if self.due else None
                if left is not None and left <= 0:
                    _, _, name, pause = heapq.heappop(self.due)
                    return name, pause
                self.ready.wait(left)

    def one(self, name: str, pause: float) -> None:
        with self.ready:
            request = self.pending.get(name)
        if request is None:
            return
        made = datetime.fromisoformat(request["metadata"]["creationTimestamp"])
        facts = Facts(
            pools=self.pools,
            lans=self.lans,
            departed=self.departures.shut,
            look=self.instances.look,
            owner=self.nodes.owner,
            age=(datetime.now(UTC) - made).total_seconds(),
        )
        verdict = judge(request["spec"], facts)
        if verdict.kind == "leave":
            return
        if verdict.kind == "wait":
            with self.ready:
                self._again(name, pause, min(2 * pause, MOST_PAUSE))
            return
        try:
            self.kube.ask("PUT", f"{PATH}/{name}/approval", verdict_written(request, verdict, datetime.now(UTC)))
        except Answer as answer:
            if answer.status not in (404, 409):
                raise
            return  # it is gone, or was changed: then it comes here again
        with self.ready:
            if self.pending.get(name) is request:
                del self.pending[name]
        who = ascii(str(request["spec"].get("username")))[:120]
        say(f"{'approved' if verdict.kind == 'approve' else 'denied'} {name} by {who}: {verdict.why}")
