"""Tells pods what is planned where they run: an annotation that their programs may read as a file, and an event."""

import hashlib
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fleet.maintenance import ANNOTATION, stamp
from kube_http import MERGE, Answer, Kube

from . import marks
from .marks import Planned
from .pods import Pods

COMPONENT = "landbridge-maintenance"
PLANNED, OFF = "MaintenancePlanned", "MaintenanceCalledOff"
# Pods without a word on them are not touched when there is nothing to say.
NOTHING = ""


class Telling:
    def __init__(self, kube: Kube) -> None:
        self.kube = kube

    def tell(self, node: str, planned: list[Planned], there: Pods, now: float) -> None:
        """Raises Answer, OSError."""
        text = marks.of_pod(planned, now)
        for pod in there.work:
            before = (pod["metadata"].get("annotations") or {}).get(ANNOTATION, NOTHING)
            if before == text or "deletionTimestamp" in pod["metadata"]:
                continue
            if self._annotated(pod, text) and _subject(before) != _subject(text):
                self._event(pod, node, planned, text or before, now)

    def _annotated(self, pod: Mapping[str, Any], text: str) -> bool:
        """By its status: whoever may write that can't change what it runs."""
        meta = pod["metadata"]
        body = {"metadata": {"uid": meta["uid"], "annotations": {ANNOTATION: text or None}}}
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
        try:
            self.kube.ask("PATCH", path, body, MERGE)
        except Answer as answer:
            # Gone, or another one has the name.
            if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
                return False
            raise
        return True

    def _event(self, pod: Mapping[str, Any], node: str, planned: list[Planned], text: str, now: float) -> None:
        meta, about = pod["metadata"], json.loads(text)
        key = hashlib.sha256(f"{meta['uid']} {_subject(text)} {bool(planned)}".encode()).hexdigest()[:16]
        words = f"{node}: {about['why']} ({about['by']}), from {about['start']}"
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{key}", "namespace": meta["namespace"]},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": meta["name"],
                "namespace": meta["namespace"],
                "uid": meta["uid"],
            },
            "reason": PLANNED if planned else OFF,
            "message": words if planned else f"{words}, is called off",
            "type": "Warning" if planned else "Normal",
            "source": {"component": COMPONENT},
            "firstTimestamp": stamp(now),
            "lastTimestamp": stamp(now),
            "count": 1,
        }
        try:
            self.kube.ask("POST", f"/api/v1/namespaces/{meta['namespace']}/events", event)
        except Answer as answer:
            if answer.status not in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                raise


def _subject(text: str) -> tuple[str, ...]:
    """What it is about: what is left of the time is no news."""
    found = json.loads(text) if text else {}
    return tuple(str(found.get(name)) for name in ("maintenance", "start", "why")) if found else ()
