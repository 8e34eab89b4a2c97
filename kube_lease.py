"""Of a service's copies one acts: it holds a Lease of the cluster's, as Kubernetes' own controllers do.

Like kube_http.py for machines and for services: only Python's standard library, and nothing of ours but that.
"""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from kube_http import Answer, Json, Kube

# kube-controller-manager's own: another copy takes over after the first, the holder gives up after the second.
HELD_SECONDS, GIVE_UP_SECONDS, PERIOD_SECONDS = 15, 10.0, 2.0


class Lease:
    """Whether somebody else still holds it shows by its changes, not by its time: clocks may differ."""

    def __init__(self, kube: Kube, path: str, name: str, say: Callable[[str], None]) -> None:
        self.kube, self.path, self.name, self.say = kube, path, name, say
        self.version, self.since = "", time.monotonic()
        self.leads = False
        self.renewed_at = 0.0
        self.lock = threading.Lock()

    def step(self) -> bool:
        """Takes the lease or keeps it; whether it is ours. Raises OSError, Answer."""
        with self.lock:
            found = self.kube.ask("GET", self.path)
            spec, version = found.get("spec") or {}, found["metadata"]["resourceVersion"]
            if version != self.version:
                self.version, self.since = version, time.monotonic()
            holder = spec.get("holderIdentity") or ""
            if holder not in ("", self.name) and time.monotonic() - self.since < HELD_SECONDS:
                self.leads = False
                return False
            wish = _held(found, self.name, datetime.now(UTC), taken=holder != self.name)
            began = time.monotonic()
            try:
                self.version = self.kube.ask("PUT", self.path, wish)["metadata"]["resourceVersion"]
            except Answer as answer:
                if answer.status != 409:
                    raise
                self.leads = False
                return False
            self.since, self.renewed_at, self.leads = time.monotonic(), began, True
            return True

    def release(self) -> None:
        """So that the next one need not wait. Raises OSError, Answer."""
        with self.lock:
            if not self.leads:
                return
            self.leads = False
            found = self.kube.ask("GET", self.path)
            if (found.get("spec") or {}).get("holderIdentity") == self.name:
                self.kube.ask("PUT", self.path, {**found, "spec": {**found["spec"], "holderIdentity": ""}})

    def hold(self, lost: Callable[[str], None]) -> None:
        """Returns once it is ours; from then on it is kept by a thread, and `lost` is called when that fails."""
        told = ""
        while True:
            try:
                if self.step():
                    break
                problem = ""
            except (Answer, OSError) as error:
                problem = str(error)
            if problem and problem != told:
                self.say(f"cannot look who leads: {problem}")
            told = problem
            time.sleep(PERIOD_SECONDS)
        self.say(f"{self.name} leads")
        threading.Thread(target=self._keep, args=(lost,), daemon=True).start()

    def _keep(self, lost: Callable[[str], None]) -> None:
        while True:
            time.sleep(PERIOD_SECONDS)
            why = "somebody else holds the lease"
            try:
                if self.step():
                    continue
            except (Answer, OSError) as error:
                why = str(error)
                if time.monotonic() - self.renewed_at < GIVE_UP_SECONDS:
                    continue
            lost(why)
            return


def _held(found: Json, name: str, now: datetime, *, taken: bool) -> Json:
    spec = dict(found.get("spec") or {})
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec |= {"holderIdentity": name, "leaseDurationSeconds": HELD_SECONDS, "renewTime": moment}
    if taken:
        spec |= {"acquireTime": moment, "leaseTransitions": int(spec.get("leaseTransitions") or 0) + 1}
    return {**found, "spec": spec}
