"""Ends what is booked for a run once it has begun.

What the autoscaler has found for a ProvisioningRequest it books for ten minutes, so that nobody else gets it, and no
run's beginning or end ends that (its processors/provreq/processor.go). Its machines are counted twice meanwhile, by the
booking and by the run's own pods: the next run waits for machines that are free, or buys others.
"""

import sys
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from kube_http import Answer, Kube, follow
from services.kube import kube

Json = dict[str, Any]
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/provisioningrequests"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
PROVISIONED, EXPIRED, FAILED = "Provisioned", "BookingExpired", "Failed"
# Of a workload: all its pods run, or none will any more.
BEGUN = ("PodsReady", "Finished")
REASON = "RunHasBegun"


class Name(NamedTuple):
    space: str
    name: str


class Bookings:
    """Follows as the service account in `account`. Its two threads call `requested` and `worked`."""

    def __init__(self, account: Path) -> None:
        self.kube, self.lock = kube(account), threading.Lock()
        # Requests by their workloads, and when workloads began.
        self.booked: dict[Name, Json] = {}
        self.begun: dict[Name, datetime] = {}

    def start(self) -> None:
        for path, keep in ((REQUESTS, self.requested), (WORKLOADS, self.worked)):
            work = partial(followed, self.kube, path, keep)
            threading.Thread(target=work, name=path.rpartition("/")[2], daemon=True).start()

    def requested(self, request: Json, *, gone: bool = False) -> None:
        for of in owners(request):
            with self.lock:
                if booked_at(request) is None or gone:
                    self.booked.pop(of, None)
                    continue
                self.booked[of] = request
            self._end(of)

    def worked(self, workload: Json, *, gone: bool = False) -> None:
        of = Name(workload["metadata"]["namespace"], workload["metadata"]["name"])
        began = None if gone else max((at for kind in BEGUN if (at := since(workload, kind))), default=None)
        with self.lock:
            if began is None:
                self.begun.pop(of, None)
                return
            self.begun[of] = began
        self._end(of)

    def _end(self, of: Name) -> None:
        """Of what was booked before the run began; it may have begun before, and be back in its queue since."""
        with self.lock:
            request, began = self.booked.get(of), self.begun.get(of)
        if request and began and (at := booked_at(request)) and at <= began:
            meta = request["metadata"]
            path = f"{REQUESTS.rpartition('/')[0]}/namespaces/{of.space}/provisioningrequests/{meta['name']}/status"
            try:
                self.kube.ask("PUT", path, ended(request, datetime.now(UTC)))
            except (Answer, OSError) as error:
                # Somebody changed it meanwhile, and then it comes once more.
                if not isinstance(error, Answer) or error.status not in (404, 409):
                    say(f"what is booked for {of.space}/{of.name} stays booked for ten minutes: {error}")


def followed(kube: Kube, path: str, keep: Any) -> None:
    follow(kube, path, keep, lambda _: None, lambda kind, thing: keep(thing, gone=kind == "DELETED"), say)


def owners(request: Json) -> list[Name]:
    meta = request["metadata"]
    mine = meta.get("ownerReferences") or []
    return [Name(meta["namespace"], one["name"]) for one in mine if one["kind"] == "Workload"]


def booked_at(request: Json) -> datetime | None:
    """None where nothing is booked for it."""
    return None if since(request, EXPIRED) or since(request, FAILED) else since(request, PROVISIONED)


def since(thing: Json, kind: str) -> datetime | None:
    """When a condition became true; None while it is not."""
    for one in (thing.get("status") or {}).get("conditions") or []:
        if one["type"] == kind and one["status"] == "True":
            return datetime.fromisoformat(one["lastTransitionTime"])
    return None


def ended(request: Json, now: datetime) -> Json:
    """The request, as the autoscaler itself would have it after its ten minutes."""
    condition = {
        "type": EXPIRED,
        "status": "True",
        "reason": REASON,
        "message": "Its run has begun, and holds its machines by its own pods",
        "lastTransitionTime": now.isoformat(timespec="seconds"),
        "observedGeneration": request["metadata"].get("generation", 0),
    }
    status = request["status"]
    others = [one for one in status["conditions"] if one["type"] != EXPIRED]
    return {**request, "status": {**status, "conditions": [*others, condition]}}


def say(why: str) -> None:
    sys.stderr.write(f"bookings: {why}\n")
