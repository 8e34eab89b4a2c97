"""What a leader's notes are made of, step by step: pods that wait, the autoscaler's status, the service's decisions."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from kube_http import PAGE, Answer, Kube
from services import webhook

from . import autoscaler_status, backoffs, causes, decisions, hours, owners
from .amounts import plain, pod_requests
from .autoscaler_status import AutoscalerStatus
from .backoffs import Backoffs
from .causes import Around
from .hours import Hour, Waiting
from .settings import Settings

SPACE = "/api/v1/namespaces/kube-system/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
UNBOUND = "spec.nodeName=,status.phase=Pending"
LABELS_ALONE = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
# What is new is written at once, and that a pod still waits once a minute.
STILL_SECONDS = 60.0
NODES_SECONDS = 60.0


class Owners(NamedTuple):
    """Who is told: `folder` has teams' webhooks, `fleet` is the fleet's own team. None of them: nobody is."""

    folder: Path | None = None
    fleet: str = ""


NOBODY = Owners()


class Names(NamedTuple):
    """Of the autoscaler's ConfigMap and lease, of the ConfigMaps to write, and who leads here."""

    status: str
    lease: str
    history: str
    host: str


class Recorder:
    """`hour` is None while another leads."""

    def __init__(
        self,
        kube: Kube,
        settings: Settings,
        names: Names,
        file: Path,
        flags: Backoffs,
        buys_from: int,
        owners: Owners = NOBODY,
    ) -> None:
        self.kube, self.settings, self.names, self.file = kube, settings, names, file
        self.flags, self.buys_from, self.owners = flags, buys_from, owners
        self.hour: Hour | None = None
        self.before: Hour | None = None
        self.version = ""
        self.written = self.looked = 0.0
        self.dirty = False
        self.nodes: list[dict[str, str]] = []

    def step(self, now: float) -> None:
        """Raises Answer, OSError and ValueError; the next step goes on where this one stopped."""
        if not self.leads():
            self.hour = self.before = None
            return
        if self.hour is None:
            self.before, _ = self.stored_hour(hours.number(now) - 1)
            self.hour, self.version = self.stored_hour(hours.number(now))
        elif self.hour.number != hours.number(now):
            self.write(now)
            self.before = self.hour
            self.hour, self.version = self.stored_hour(hours.number(now))
        found = self.kube.find(f"{SPACE}/{self.names.status}")
        status = autoscaler_status.read(str((found or {}).get("data", {}).get("status", "")))
        new = self.hour.decide(self.unwritten(decisions.read_all(self.file)))
        new = self.hour.decide([*backoffs.begun(status, self.decided)]) or new
        # Not before its status: a pod of which nobody can say anything is seen again in the next step.
        pending = list(self.waiting(status, now)) if status.groups else []
        new = self.hour.see(pending, now) or new
        new = self.notify_owners(now) or new
        self.dirty = self.dirty or new or bool(pending)
        if new or (self.dirty and now - self.written >= STILL_SECONDS):
            self.write(now)

    def close(self) -> None:
        """Its last words."""
        if self.hour and self.dirty:
            with contextlib.suppress(Answer, OSError):
                self.write(0.0)

    def notify_owners(self, now: float) -> bool:
        """Whether somebody was. What a webhook did not take is tried again in a later step."""
        assert self.hour
        if self.owners.folder is None:
            return False
        before = len(self.hour.posted)
        for one in owners.due(self.hour, self.settings.cluster, self.owners.fleet, now):
            url = webhook.address(self.owners.folder, one.team)
            if url and webhook.post(url, one.team, one.text):
                self.hour.posted.append(one.key)
        return len(self.hour.posted) > before

    def leads(self) -> bool:
        """Whether this pod's autoscaler does; where none ever led, both may write."""
        lease = self.kube.find(f"{LEASES}/{self.names.lease}")
        return lease is None or lease["spec"].get("holderIdentity") == self.names.host

    # What is kept.

    def path(self, number: int) -> str:
        return f"{self.names.history}-{number % hours.PLACES:02}"

    def stored_hour(self, number: int) -> tuple[Hour, str]:
        """That hour, with its version; an empty one where its place has another's notes."""
        found = self.kube.find(f"{SPACE}/{self.path(number)}")
        if found is None:
            return Hour(number), ""
        version = str(found["metadata"]["resourceVersion"])
        with contextlib.suppress(ValueError):
            hour = hours.decoded(found.get("binaryData") or {})
            if hour.number == number:
                return hour, version
        return Hour(number), version

    def write(self, now: float) -> None:
        assert self.hour
        name = self.path(self.hour.number)
        metadata = {"name": name, "labels": {hours.LABEL: hours.VALUE}}
        if self.version:
            metadata |= {"resourceVersion": self.version}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "binaryData": hours.encoded(self.hour)}
        try:
            method, path = ("PUT", f"{SPACE}/{name}") if self.version else ("POST", SPACE)
            made = self.kube.ask(method, path, body)
        except Answer as answer:
            if answer.status == 409:
                # Another has led and written meanwhile: begin with what is there.
                self.hour = self.before = None
            raise
        self.version, self.written, self.dirty = str(made["metadata"]["resourceVersion"]), now, False

    # What is noted.

    @property
    def decided(self) -> list[dict[str, Any]]:
        """Of this hour and the one before."""
        assert self.hour
        assert self.before
        return [*self.before.decisions, *self.hour.decisions]

    def unwritten(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of this hour and of the one before that are not in the one before."""
        assert self.before
        since = backoffs.written(self.before.number * hours.HOUR_SECONDS)
        known = {json.dumps(one, sort_keys=True) for one in self.before.decisions}
        return [one for one in found if one["at"] >= since and json.dumps(one, sort_keys=True) not in known]

    def waiting(self, status: AutoscalerStatus, now: float) -> Iterator[Waiting]:
        around: Around | None = None
        known: dict[str, list[causes.Cause]] = {}
        for pod in self.pods():
            if around is None:
                until = backoffs.ends(status, self.decided, self.flags)
                around = Around(self.settings, status.groups, until, self.labels(now), self.buys_from)
            key = shape(pod)
            if key not in known:
                known[key] = causes.causes(pod, around)
            yield noted(pod, key, known[key])

    def pods(self) -> Iterator[dict[str, Any]]:
        """Those without a node, page by page. Pods of daemon sets are bound to theirs, and buy none."""
        query = {"fieldSelector": UNBOUND, "limit": str(PAGE)}
        while True:
            page = self.kube.ask("GET", f"/api/v1/pods?{urlencode(query)}")
            for pod in page["items"] or ():
                if owner(pod).partition("/")[0] != "DaemonSet":
                    yield pod
            if not (more := page["metadata"].get("continue")):
                return
            query["continue"] = more

    def labels(self, now: float) -> list[dict[str, str]]:
        """Of all nodes, asked for once a minute."""
        if now - self.looked >= NODES_SECONDS:
            # From the API server's own memory.
            answer = self.kube.ask("GET", "/api/v1/nodes?resourceVersion=0", accept=LABELS_ALONE)
            self.nodes = [one["metadata"].get("labels") or {} for one in answer["items"] or ()]
            self.looked = now
        return self.nodes


def shape(pod: dict[str, Any]) -> str:
    """Pods with the same wait for the same reasons."""
    spec, status = pod["spec"], pod.get("status") or {}
    parts = [spec.get(name) for name in ("nodeSelector", "affinity", "tolerations", "priority", "schedulingGates")]
    scheduled = causes.scheduler_says(pod) != ""
    parts += [plain(pod_requests(pod)), status.get("nominatedNodeName"), scheduled]
    return json.dumps(parts, sort_keys=True)


def owner(pod: dict[str, Any]) -> str:
    """Such as Job/train; empty for a pod that nobody owns."""
    found = next(iter(pod["metadata"].get("ownerReferences") or []), None)
    return f"{found['kind']}/{found['name']}" if found else ""


def noted(pod: dict[str, Any], key: str, why: list[causes.Cause]) -> Waiting:
    meta, spec = pod["metadata"], pod["spec"]
    return Waiting(
        meta["namespace"],
        meta["name"],
        owner(pod),
        key,
        plain(pod_requests(pod)),
        spec.get("nodeSelector") or {},
        causes.scheduler_says(pod),
        why,
    )
