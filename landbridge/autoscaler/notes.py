"""A day of the autoscaler's notes, as its pod writes them into ConfigMaps (services/autoscaler/hours.py)."""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from components.addons.autoscaler_notes import LABEL, VALUE
from components.addons.manifests import SPACE
from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError

FILE = "notes.json.gz"
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Notes:
    """Oldest first. A wait has pods that waited alike: name → when it was first and last seen, in the epoch; and
    `times` in which the causes were the same. Before `since` nobody kept anything, or it is gone; `last` is when the
    newest of them was written; both are None for none.
    """

    decisions: list[Json] = field(default_factory=list)
    waits: list[Json] = field(default_factory=list)
    since: datetime | None = None
    last: datetime | None = None

    def of(self, pod: str, namespace: str | None) -> Iterator[Json]:
        """The waits of one pod: a line for each time of its own in which the causes were the same."""
        for wait in self.waits:
            if pod in wait["pods"] and namespace in (None, wait["namespace"]):
                begun, ended = wait["pods"][pod]
                for time in wait["times"]:
                    if time["from"] <= ended and begun <= time["to"]:
                        times = {"from": max(begun, time["from"]), "to": min(ended, time["to"])}
                        yield {**wait, **time, **times}


def read(kube: Kube) -> Notes:
    """Raises KubeError, and LandbridgeError for notes that are none."""
    found = kube.get("configmaps", f"--namespace={SPACE}", f"--selector={LABEL}={VALUE}")["items"]
    hours = sorted((_hour(one) for one in found), key=lambda hour: int(hour["number"]))
    decisions = [one for hour in hours for one in hour["decisions"]]
    waits = [one for hour in hours for one in hour["waits"].values()]
    times = [moment(str(one["at"])) for one in decisions] + [at(one["to"]) for one in waits]
    return Notes(
        sorted(decisions, key=lambda one: str(one["at"])),
        sorted(waits, key=lambda one: int(one["from"])),
        at(int(hours[0]["number"]) * 3600) if hours else None,
        max(times, default=None),
    )


def _hour(config: Json) -> Json:
    name = config["metadata"]["name"]
    try:
        return dict(json.loads(gzip.decompress(base64.b64decode(config["binaryData"][FILE]))))
    except (KeyError, TypeError, OSError, EOFError, ValueError) as error:
        raise LandbridgeError(
            f"{SPACE}/{name}: these are no notes of the autoscaler's ({error}). "
            f"`landbridge kubectl -n {SPACE} delete configmap {name}` removes them; the pod goes on without."
        ) from None


def at(epoch: float) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


def moment(text: str) -> datetime:
    """As decisions have it: 2026-11-22T13:40:18.167787Z."""
    return datetime.fromisoformat(text)
